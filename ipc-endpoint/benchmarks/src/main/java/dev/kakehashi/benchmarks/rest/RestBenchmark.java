package dev.kakehashi.benchmarks.rest;

import dev.kakehashi.benchmarks.engine.BenchmarkRows;
import dev.kakehashi.benchmarks.engine.Numbers;
import dev.kakehashi.benchmarks.engine.Repetitions;
import dev.kakehashi.client.AttachOptions;
import dev.kakehashi.client.Session;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.atomic.AtomicLong;

/// The HTTP door against [PeerService], measure by measure, taking turns.
///
/// `make bench-rest` runs it, with settings as system properties. Arguments: the endpoint's runtime directory, port and process; the peer's
/// port and process, the process of its PostgreSQL; then the rows of the table that are wanted. The endpoint's password is in
/// KAKEHASHI_PASSWORD, the peer's token in PEER_TOKEN. The peer's tables are there before.
public final class RestBenchmark {
  private static final List<String> ROWS =
      List.of("select", "insert", "rows1m", "download", "shared", "polls", "scrape", "privileges");
  private static final int CONNECTIONS = 8;
  private static final String SELECT = "SELECT id, grp, val FROM numbers WHERE id = ";
  private static final String ALL = "SELECT id, grp, val FROM numbers";
  private static final String INSERT = "INSERT INTO events VALUES ";

  private final Path runtimeDirectory;
  private final Service endpoint;
  private final long endpointPid;
  private final Service peer;
  private final long peerPid;
  private final long postgresPid;
  private final Repetitions turns;
  private final long rows = Long.getLong("bench.tableRows", 1_000_000);
  private final double seconds = Integer.getInteger("bench.seconds", 3);
  private final double warmUpSeconds = Integer.getInteger("bench.warmUpSeconds", 20);
  private final AtomicLong nextEvent = new AtomicLong(1);

  private RestBenchmark(List<String> arguments) throws IOException {
    runtimeDirectory = Path.of(arguments.get(0));
    endpoint =
        Service.login(
            Integer.parseInt(arguments.get(1)),
            System.getProperty("bench.user"),
            System.getenv("KAKEHASHI_PASSWORD"));
    endpointPid = Long.parseLong(arguments.get(2));
    peer = new Service(Integer.parseInt(arguments.get(3)), System.getenv("PEER_TOKEN"));
    peerPid = Long.parseLong(arguments.get(4));
    postgresPid = Long.parseLong(arguments.get(5));
    turns = new Repetitions(0, Integer.getInteger("bench.repetitions", 5));
  }

  public static void main(String[] arguments) throws Exception {
    List<String> all = Arrays.asList(arguments);
    List<String> wanted = all.subList(6, all.size());
    BenchmarkRows.require(ROWS, wanted);
    new RestBenchmark(all).run(wanted);
  }

  private void run(List<String> wanted) throws Exception {
    AttachOptions options =
        AttachOptions.of(runtimeDirectory)
            .withApplicationName("HTTP benchmark")
            .withDirectReads(false);
    try (Session session = Session.attach(options)) {
      session.execute(Numbers.definition("numbers"));
      Numbers.load(session, "numbers", 1, rows);
      session.execute("CREATE TABLE events (id int8 PRIMARY KEY, val int4)");
      BenchmarkTable.head();
      DoorCosts costs = new DoorCosts(endpoint, endpointPid, turns, seconds, rows);
      for (String row : wanted) {
        switch (row) {
          case "select" -> selects();
          case "insert" -> inserts();
          case "rows1m" -> results();
          case "download" -> new Download(endpoint, turns, seconds).run(ALL);
          case "shared" -> costs.shared(session, ALL);
          case "polls" -> costs.polls(session);
          case "scrape" -> costs.scrape();
          default -> privileges(session);
        }
      }
    }
  }

  /// Requests with keys that jump through the table.
  private Load.Source keyed(Service service, String sql) {
    byte[] request = service.statement("/v1/sql", "", sql, Template.NUMBER);
    return () -> {
      Template template = new Template(request);
      long[] id = {0};
      return () -> {
        id[0] = (id[0] + 997) % rows;
        return template.with(id[0] + 1);
      };
    };
  }

  private void selects() throws Exception {
    Load.Source ofPeer = keyed(peer, SELECT + "?");
    Load.Source ofEndpoint = keyed(endpoint, SELECT + "$1");
    compare("select by key, 1 connection", ofPeer, ofEndpoint, 1, 1.5);
    compare("select by key, 8 connections", ofPeer, ofEndpoint, CONNECTIONS, 2);
  }

  private Load.Source inserting(Service service, String placeholders) {
    byte[] request =
        service.statement("/v1/sql", "", INSERT + placeholders, Template.NUMBER + ",7");
    return () -> {
      Template template = new Template(request);
      return () -> template.with(nextEvent.getAndIncrement());
    };
  }

  private void inserts() throws Exception {
    compare(
        "insert of one row, stored, 8 connections",
        inserting(peer, "(?, ?)"),
        inserting(endpoint, "($1, $2)"),
        CONNECTIONS,
        1.2);
  }

  private void compare(
      String what, Load.Source ofPeer, Load.Source ofEndpoint, int connections, double goal)
      throws Exception {
    Load.run(peer.port(), ofPeer, connections, warmUpSeconds);
    Load.run(endpoint.port(), ofEndpoint, connections, warmUpSeconds);
    List<Load.Result> peers = new ArrayList<>();
    List<Load.Result> endpoints = new ArrayList<>();
    double[] peerTime = {0};
    double[] endpointTime = {0};
    Repetitions.Medians medians =
        turns.compare(
            () -> {
              double before = peerSeconds();
              peers.add(Load.run(peer.port(), ofPeer, connections, seconds));
              peerTime[0] += peerSeconds() - before;
              return peers.getLast().rate();
            },
            () -> {
              double before = ServerProcesses.seconds(endpointPid);
              endpoints.add(Load.run(endpoint.port(), ofEndpoint, connections, seconds));
              endpointTime[0] += ServerProcesses.seconds(endpointPid) - before;
              return endpoints.getLast().rate();
            });
    BenchmarkTable.atLeast(
        what,
        BenchmarkTable.rate(medians.heap()),
        BenchmarkTable.rate(medians.engine()),
        medians.engine() / medians.heap(),
        goal);
    double p50 = percentile(endpoints, 50);
    if (connections == 1) {
      BenchmarkTable.atMost(
          what + ", p50",
          BenchmarkTable.micros(percentile(peers, 50)),
          BenchmarkTable.micros(p50),
          p50,
          150,
          "us");
    } else {
      BenchmarkTable.more(
          "p50", BenchmarkTable.micros(percentile(peers, 50)), BenchmarkTable.micros(p50));
    }
    BenchmarkTable.more(
        "p99",
        BenchmarkTable.micros(percentile(peers, 99)),
        BenchmarkTable.micros(percentile(endpoints, 99)));
    BenchmarkTable.more(
        "processor time of a request",
        BenchmarkTable.micros(peerTime[0] / count(peers) * 1e6),
        BenchmarkTable.micros(endpointTime[0] / count(endpoints) * 1e6));
  }

  /// Processor time of the service and of PostgreSQL, in seconds.
  private double peerSeconds() throws IOException {
    return ServerProcesses.seconds(peerPid) + ServerProcesses.secondsWithChildren(postgresPid);
  }

  private static double percentile(List<Load.Result> results, double percentile) {
    return Repetitions.median(results.stream().map(each -> each.micros(percentile)).toList());
  }

  private static long count(List<Load.Result> results) {
    return results.stream().mapToLong(Load.Result::count).sum();
  }

  private void results() throws Exception {
    byte[] export = peer.statement("/v1/export", "", ALL, "");
    String what = String.format(Locale.ROOT, "%,d rows as ", rows);
    List<List<String>> formats =
        List.of(
            List.of("JSON", "application/json"),
            List.of("CSV", "text/csv"),
            List.of("Arrow", "application/vnd.apache.arrow.stream"));
    for (List<String> format : formats) {
      String name = format.getFirst();
      byte[] request = endpoint.statement("/v1/sql", "Accept: " + format.get(1) + "\r\n", ALL, "");
      Repetitions warm = new Repetitions(5, Math.max(1, turns.repetitions()));
      double[] bytes = {0, 0};
      Repetitions.Medians medians =
          warm.compare(
              () -> whole(peer.port(), export, bytes, 0),
              () -> whole(endpoint.port(), request, bytes, 1));
      BenchmarkTable.atLeast(
          what + name,
          BenchmarkTable.millis(medians.heap()),
          BenchmarkTable.millis(medians.engine()),
          medians.heap() / medians.engine(),
          name.equals("Arrow") ? 5 : 2);
      BenchmarkTable.more(
          "bytes", BenchmarkTable.megabytes(bytes[0]), BenchmarkTable.megabytes(bytes[1]));
    }
  }

  /// @return milliseconds until the answer has ended
  private static double whole(int port, byte[] request, double[] bytes, int side)
      throws IOException {
    try (Wire wire = new Wire(port)) {
      long began = System.nanoTime();
      wire.expect(200, request);
      bytes[side] = wire.bodyBytes();
      return (System.nanoTime() - began) / 1e6;
    }
  }

  private void privileges(Session session) throws Exception {
    // A user that is only in the file of users may do everything.
    session.execute("CREATE ROLE bench_reader LOGIN");
    session.execute("GRANT SELECT ON numbers TO bench_reader");
    Service reader =
        Service.login(endpoint.port(), "bench_reader", System.getenv("KAKEHASHI_PASSWORD"));
    Load.Source ofOwner = keyed(endpoint, SELECT + "$1");
    Load.Source ofReader = keyed(reader, SELECT + "$1");
    Load.run(endpoint.port(), ofOwner, 1, warmUpSeconds);
    Load.run(endpoint.port(), ofReader, 1, warmUpSeconds);
    Repetitions.Medians medians =
        turns.compare(
            () -> 1e6 / Load.run(endpoint.port(), ofOwner, 1, seconds).rate(),
            () -> 1e6 / Load.run(endpoint.port(), ofReader, 1, seconds).rate());
    BenchmarkTable.atMost(
        "select by key by GRANT, beside the superuser's",
        BenchmarkTable.micros(medians.heap()),
        BenchmarkTable.micros(medians.engine()),
        medians.engine() / medians.heap(),
        1.02,
        "");
  }
}
