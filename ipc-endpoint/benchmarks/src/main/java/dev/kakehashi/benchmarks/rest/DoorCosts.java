package dev.kakehashi.benchmarks.rest;

import dev.kakehashi.benchmarks.engine.Numbers;
import dev.kakehashi.benchmarks.engine.Repetitions;
import dev.kakehashi.client.Parameters;
import dev.kakehashi.client.PreparedStatement;
import dev.kakehashi.client.Session;
import dev.kakehashi.client.Transaction;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.List;

/// Costs of the HTTP door for others, and its own costs while it has nothing to do.
record DoorCosts(Service endpoint, long endpointPid, Repetitions turns, double seconds, long rows) {
  private static final int IDLE_CONNECTIONS = 8;
  private static final int POLLS = 1000;
  private static final double ARRIVAL_SECONDS = 3;
  private static final double POLL_SECONDS = 10;
  private static final int SCRAPES = 100;

  /// Selects through shared memory: alone, beside connections that do nothing, beside one that reads results without end.
  void shared(Session session, String all) throws Exception {
    try (PreparedStatement select = session.prepare("SELECT grp FROM numbers WHERE id = $1")) {
      selects(session, select);
      Repetitions.Medians idle =
          turns.compare(() -> selects(session, select), () -> besideIdle(session, select));
      print("shared-memory select beside idle HTTP", idle, 1.02);
      Repetitions.Medians busy =
          turns.compare(() -> selects(session, select), () -> besideBusy(session, select, all));
      print("shared-memory select beside busy HTTP", busy, 1.5);
    }
  }

  private static void print(String what, Repetitions.Medians medians, double goal) {
    BenchmarkTable.atMost(
        what,
        BenchmarkTable.micros(medians.heap()),
        BenchmarkTable.micros(medians.engine()),
        medians.engine() / medians.heap(),
        goal,
        "");
  }

  private double besideIdle(Session session, PreparedStatement select) throws IOException {
    List<Wire> wires = new ArrayList<>();
    try {
      for (int i = 0; i < IDLE_CONNECTIONS; i++) {
        wires.add(new Wire(endpoint.port()));
        wires.getLast().expect(200, endpoint.get("/health/live", ""));
      }
      return selects(session, select);
    } finally {
      close(wires);
    }
  }

  private double besideBusy(Session session, PreparedStatement select, String all)
      throws IOException, InterruptedException {
    Wire wire = new Wire(endpoint.port());
    byte[] request = endpoint.statement("/v1/sql", "", all, "");
    // Ends when the connection is closed under it.
    Thread reader = Thread.ofPlatform().daemon().start(() -> readUntilClosed(wire, request));
    try {
      return selects(session, select);
    } finally {
      wire.close();
      reader.join();
    }
  }

  private static void readUntilClosed(Wire wire, byte[] request) {
    boolean open = true;
    while (open) {
      try {
        wire.expect(200, request);
      } catch (java.net.SocketException closed) {
        open = false;
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }
  }

  /// @return mean in microseconds
  private double selects(Session session, PreparedStatement select) {
    Parameters key = select.parameters();
    long began = System.nanoTime();
    long end = began + (long) (seconds * 1e9);
    long count = 0;
    long id = 0;
    while (System.nanoTime() < end) {
      id = (id + 997) % rows;
      key.reset();
      key.writer().addRow();
      key.writer().setLong(0, id + 1);
      if (Numbers.drain(session.query(select, key)) != 1) {
        throw new IllegalStateException("no row with id " + (id + 1));
      }
      count++;
    }
    return (System.nanoTime() - began) / 1e3 / count;
  }

  /// Clients that wait for a job which waits for a row.
  void polls(Session session) throws Exception {
    session.execute("CREATE TABLE held (id int8 PRIMARY KEY, val int4)");
    session.execute("INSERT INTO held VALUES (1, 1)");
    List<Wire> wires = new ArrayList<>();
    try (Transaction holder = session.begin();
        PreparedStatement update = session.prepare("UPDATE held SET val = 2 WHERE id = 1")) {
      holder.update(update, update.parameters());
      String job = waitingJob();
      byte[] poll = endpoint.get(job + "?wait=60", "");
      long before = ServerProcesses.residentBytes(endpointPid);
      for (int i = 0; i < POLLS; i++) {
        Wire wire = new Wire(endpoint.port());
        wires.add(wire);
        wire.send(poll);
      }
      Thread.sleep((long) (ARRIVAL_SECONDS * 1e3)); // until the last of them waits
      double begun = ServerProcesses.seconds(endpointPid);
      Thread.sleep((long) (POLL_SECONDS * 1e3)); // what is measured is this time
      double used = ServerProcesses.seconds(endpointPid) - begun;
      double bytes = ServerProcesses.residentBytes(endpointPid) - before;
      BenchmarkTable.atMost(
          POLLS + " waiting polls, memory",
          "",
          BenchmarkTable.megabytes(bytes),
          bytes / 1e6,
          64,
          "MB");
      double millis = used / POLL_SECONDS * 1e3;
      BenchmarkTable.atMost(
          POLLS + " waiting polls, processor time a second",
          "",
          BenchmarkTable.millis(millis),
          millis,
          2,
          "ms");
      holder.rollback();
      for (Wire wire : wires) {
        int status = wire.read(null);
        if (status != 200) {
          throw new IOException("a poll did not wait for its job: HTTP status " + status);
        }
      }
    } finally {
      close(wires);
    }
  }

  private String waitingJob() throws IOException {
    try (Wire wire = new Wire(endpoint.port())) {
      wire.expect(
          202,
          endpoint.statement(
              "/v1/sql", "Prefer: respond-async\r\n", "UPDATE held SET val = 3 WHERE id = 1", ""));
      return wire.location();
    }
  }

  private static void close(List<Wire> wires) throws IOException {
    for (Wire wire : wires) {
      wire.close();
    }
  }

  /// Metrics, as a collector asks for them.
  void scrape() throws Exception {
    byte[] request = endpoint.get("/metrics", "");
    try (Wire wire = new Wire(endpoint.port())) {
      for (int i = 0; i < SCRAPES; i++) {
        wire.expect(200, request);
      }
      double millis =
          new Repetitions(0, SCRAPES)
              .alone(() -> {
                long began = System.nanoTime();
                wire.expect(200, request);
                return (System.nanoTime() - began) / 1e6;
              });
      BenchmarkTable.atMost(
          "scrape of the metrics", "", BenchmarkTable.millis(millis), millis, 5, "ms");
    }
  }
}
