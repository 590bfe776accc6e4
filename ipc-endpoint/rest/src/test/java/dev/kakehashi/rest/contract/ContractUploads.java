package dev.kakehashi.rest.contract;

import dev.kakehashi.bulk.file.UploadDirectory;
import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.protocol.Directories;
import dev.kakehashi.rest.bulk.SentFiles;
import dev.kakehashi.rest.bulk.UploadRoutes;
import dev.kakehashi.rest.job.Jobs;
import dev.kakehashi.rest.job.TestJobs;
import dev.kakehashi.rest.route.Route;
import dev.kakehashi.rest.server.RawClient;
import dev.kakehashi.rest.server.RawClient.Answer;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import org.jspecify.annotations.Nullable;

/// Uploads in the states that provoke the documented statuses of their routes. Closed by who has made it.
final class ContractUploads implements AutoCloseable {
  private static final String HOST = "Host: localhost\r\n";
  private static final String BEGIN = "POST /v1/uploads";
  private static final String LENGTH = "HEAD /v1/uploads/{id}";
  private static final String APPEND = "PATCH /v1/uploads/{id}";
  private static final String REMOVE = "DELETE /v1/uploads/{id}";
  private static final String NONE = "0".repeat(32);
  private static final int SPACE = 100;

  /// Gate of one upload that somebody waits to begin; null: nobody.
  private volatile @Nullable Gate gate;

  private final Path directory;
  private final UploadDirectory uploads;
  private final Jobs jobs;

  ContractUploads(Jobs jobs) throws IOException {
    this.jobs = jobs;
    this.directory = Files.createTempDirectory("contract-uploads");
    this.uploads =
        new UploadDirectory(
            directory,
            new UploadDirectory.Limits(10 * SPACE, SPACE, Duration.ofHours(1)),
            this::time);
  }

  List<Route> routes() {
    return new UploadRoutes(new SentFiles(uploads, uploads::take, 10 * SPACE), jobs).routes();
  }

  /// How each documented status is provoked.
  void rows(ContractJobs.Rows rows) {
    rows.row(BEGIN, 201, doors -> begin(doors, ""));
    rows.row(
        BEGIN,
        422,
        doors -> {
          begin(doors, key("begin") + "Accept: text/csv\r\n");
          return begin(doors, key("begin"));
        });
    rows.row(BEGIN, 409, this::beginTwiceAtOnce);
    rows.row(BEGIN, 507, this::beginTooMany);
    rows.row(APPEND, 408, this::appendSlowly);
    rows.row(LENGTH, 204, doors -> send(doors, "HEAD", begun(), "", ""));
    rows.row(LENGTH, 404, doors -> send(doors, "HEAD", NONE, "", ""));
    rows.row(APPEND, 204, doors -> append(doors, begun(), 0, 10));
    rows.row(APPEND, 404, doors -> append(doors, NONE, 0, 10));
    rows.row(APPEND, 409, doors -> append(doors, begun(), 5, 10));
    rows.row(APPEND, 413, doors -> append(doors, begun(), 0, 10 * SPACE + 1));
    rows.row(
        APPEND, 415, doors -> send(doors, "PATCH", begun(), "Content-Type: text/csv\r\n", "1,a"));
    rows.row(APPEND, 507, doors -> append(doors, begun(), 0, SPACE + 1));
    rows.row(REMOVE, 204, doors -> send(doors, "DELETE", begun(), "", ""));
    rows.row(REMOVE, 404, doors -> send(doors, "DELETE", NONE, "", ""));
  }

  /// Holds who begins an upload.
  private static final class Gate {
    final CountDownLatch reached = new CountDownLatch(1);
    final CountDownLatch open = new CountDownLatch(1);
  }

  private long time() {
    Gate held = gate;
    if (held != null) {
      held.reached.countDown();
      TestJobs.await(held.open);
    }
    return System.currentTimeMillis();
  }

  /// The second one comes while the first has not begun.
  private Answer beginTwiceAtOnce(ContractDoors doors) throws IOException {
    Gate held = new Gate();
    gate = held;
    CompletableFuture<Integer> first =
        CompletableFuture.supplyAsync(() -> {
          try {
            return begin(doors, key("uploads at once")).status();
          } catch (IOException e) {
            throw new UncheckedIOException(e);
          }
        });
    TestJobs.await(held.reached);
    Answer second = begin(doors, key("uploads at once"));
    gate = null;
    held.open.countDown();
    first.join();
    return second;
  }

  private Answer beginTooMany(ContractDoors doors) throws IOException {
    try {
      while (true) {
        String ignored = uploads.begin("bob");
      }
    } catch (EngineException e) {
      return ContractDoors.send(
          doors.usual(), "POST", "/v1/uploads", HOST + RawClient.basic("bob", "builder"), "");
    }
  }

  /// Announces more than it sends.
  private Answer appendSlowly(ContractDoors doors) throws IOException {
    try (RawClient client = new RawClient(doors.impatient().uri(0))) {
      return client
          .send(
              "PATCH /v1/uploads/"
                  + begun()
                  + " HTTP/1.1\r\n"
                  + HOST
                  + RawClient.ALICE
                  + "Content-Type: application/partial-upload\r\nUpload-Offset: 0\r\nContent-Length: 10\r\n\r\nx")
          .answer();
    }
  }

  private String begun() {
    return uploads.begin("alice");
  }

  private static String key(String key) {
    return "Idempotency-Key: \"" + key + "\"\r\n";
  }

  private static Answer begin(ContractDoors doors, String fields) throws IOException {
    return ContractDoors.send(
        doors.usual(), "POST", "/v1/uploads", HOST + RawClient.ALICE + fields, "");
  }

  private static Answer append(ContractDoors doors, String id, int offset, int bytes)
      throws IOException {
    String fields = "Content-Type: application/partial-upload\r\nUpload-Offset: " + offset + "\r\n";
    return send(doors, "PATCH", id, fields, "x".repeat(bytes));
  }

  private static Answer send(
      ContractDoors doors, String method, String id, String fields, String body)
      throws IOException {
    return ContractDoors.send(
        doors.usual(), method, "/v1/uploads/" + id, HOST + RawClient.ALICE + fields, body);
  }

  @Override
  public void close() {
    try {
      Directories.delete(directory);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
