package dev.kakehashi.rest.contract;

import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.protocol.Directories;
import dev.kakehashi.protocol.ErrorCode;
import dev.kakehashi.rest.job.JobContext;
import dev.kakehashi.rest.job.JobFile;
import dev.kakehashi.rest.job.JobRecord;
import dev.kakehashi.rest.job.JobWork;
import dev.kakehashi.rest.job.Jobs;
import dev.kakehashi.rest.job.TestJobs;
import dev.kakehashi.rest.job.http.JobMetrics;
import dev.kakehashi.rest.job.http.JobRoutes;
import dev.kakehashi.rest.monitor.Metrics;
import dev.kakehashi.rest.route.Route;
import dev.kakehashi.rest.server.FixedUsers;
import dev.kakehashi.rest.server.RawClient;
import dev.kakehashi.rest.server.RawClient.Answer;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;

/// Jobs in the states that provoke the documented statuses of their routes. Closed by who has made it.
final class ContractJobs implements AutoCloseable {
  private static final String HOST = "Host: localhost\r\n";
  private static final String LIST = "GET /v1/jobs";
  private static final String ONE = "GET /v1/jobs/{token}";
  private static final String DELETE = "DELETE /v1/jobs/{token}";
  private static final String CANCEL = "POST /v1/jobs/{token}/cancel";
  private static final String FILE = "GET /v1/jobs/{token}/files/{n}";

  private final Path directory;
  private final TestJobs test;
  private final JobRecord done;
  private final JobRecord failed;
  private final JobRecord lost;

  ContractJobs() throws IOException {
    directory = Files.createTempDirectory("contract-jobs");
    test = new TestJobs(directory);
    lost = test.run("alice", TestJobs.writes("lost"));
    JobFile file = lost.files().getFirst();
    Files.delete(directory.resolve("results").resolve(Long.toString(file.id())));
    test.restart();
    done = test.run("alice", TestJobs.writes("0123456789"));
    failed = test.run("alice", new Fails());
  }

  List<Route> routes() {
    return new JobRoutes(test.jobs, new FixedUsers()).routes();
  }

  Jobs jobs() {
    return test.jobs;
  }

  Metrics metrics() {
    return new JobMetrics(test.jobs);
  }

  /// How each documented status is provoked.
  void rows(Rows rows) {
    rows.row(LIST, 200, doors -> send(doors, "GET", "/v1/jobs?limit=1", ""));
    rows.row(ONE, 200, doors -> send(doors, "GET", path(failed) + "?wait=1", ""));
    rows.row(ONE, 404, doors -> send(doors, "GET", path("0".repeat(32)), ""));
    rows.row(DELETE, 204, doors -> send(doors, "DELETE", path(running()), ""));
    rows.row(DELETE, 404, doors -> send(doors, "DELETE", path("0".repeat(32)), ""));
    rows.row(CANCEL, 200, doors -> cancel(doors, done, ""));
    rows.row(CANCEL, 202, doors -> cancel(doors, running(), ""));
    rows.row(CANCEL, 404, doors -> send(doors, "POST", path("0".repeat(32)) + "/cancel", ""));
    rows.row(CANCEL, 409, this::cancelTwiceAtOnce);
    rows.row(
        CANCEL,
        422,
        doors -> {
          cancel(doors, done, key("other"));
          return cancel(doors, failed, key("other"));
        });
    rows.row(FILE, 200, doors -> file(doors, done, ""));
    rows.row(FILE, 206, doors -> file(doors, done, "Range: bytes=3-\r\n"));
    rows.row(
        FILE,
        304,
        doors ->
            file(doors, done, "If-None-Match: " + file(doors, done, "").header("ETag") + "\r\n"));
    rows.row(FILE, 404, doors -> file(doors, failed, ""));
    rows.row(FILE, 410, doors -> file(doors, lost, ""));
    rows.row(FILE, 412, doors -> file(doors, done, "If-Match: \"other\"\r\n"));
    rows.row(FILE, 416, doors -> file(doors, done, "Range: bytes=10-\r\n"));
  }

  /// Takes rows.
  interface Rows {
    void row(String operation, int status, ContractRows.Provocation provocation);
  }

  private JobRecord running() {
    TestJobs.Waiting work = new TestJobs.Waiting();
    JobRecord job = test.jobs.submit("alice", "select pg_sleep(600)", work);
    work.awaitBegin();
    return job;
  }

  /// The second one comes while the first is in the work's cancel.
  private Answer cancelTwiceAtOnce(ContractDoors doors) throws IOException {
    SlowCancel work = new SlowCancel();
    JobRecord job = test.jobs.submit("alice", "select", work);
    TestJobs.await(work.begun);
    CompletableFuture<Integer> first =
        CompletableFuture.supplyAsync(() -> {
          try {
            return cancel(doors, job, key("at once")).status();
          } catch (IOException e) {
            throw new UncheckedIOException(e);
          }
        });
    TestJobs.await(work.canceled);
    Answer second = cancel(doors, job, key("at once"));
    work.end.countDown();
    first.join();
    return second;
  }

  private static String key(String key) {
    return "Idempotency-Key: \"" + key + "\"\r\n";
  }

  private static Answer cancel(ContractDoors doors, JobRecord job, String fields)
      throws IOException {
    return send(doors, "POST", path(job) + "/cancel", fields);
  }

  private static Answer file(ContractDoors doors, JobRecord job, String fields) throws IOException {
    return send(doors, "GET", path(job) + "/files/1", fields);
  }

  private static String path(JobRecord job) {
    return path(job.token());
  }

  private static String path(String token) {
    return "/v1/jobs/" + token;
  }

  private static Answer send(ContractDoors doors, String method, String path, String fields)
      throws IOException {
    return ContractDoors.send(doors.usual(), method, path, HOST + RawClient.ALICE + fields, "");
  }

  @Override
  public void close() {
    try {
      test.close();
      Directories.delete(directory);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static final class Fails implements JobWork {
    @Override
    public void run(JobContext context) {
      throw new EngineException(ErrorCode.DIVISION_BY_ZERO, "division by zero");
    }

    @Override
    public void cancel() {}
  }

  /// A work whose cancel waits for the test.
  private static final class SlowCancel implements JobWork {
    final CountDownLatch begun = new CountDownLatch(1);
    final CountDownLatch canceled = new CountDownLatch(1);
    final CountDownLatch end = new CountDownLatch(1);

    @Override
    public void run(JobContext context) {
      begun.countDown();
      TestJobs.await(end);
    }

    @Override
    public void cancel() {
      canceled.countDown();
      TestJobs.await(end);
    }
  }
}
