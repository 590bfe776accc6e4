package dev.kakehashi.rest.job;

import static dev.kakehashi.rest.job.TestJobs.ALICE;
import static dev.kakehashi.rest.job.TestJobs.BOB;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.protocol.ErrorCode;
import dev.kakehashi.testsupport.Await;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.function.Executable;
import org.junit.jupiter.api.io.TempDir;

@Timeout(120)
class JobsTest {
  @TempDir Path directory;

  private TestJobs test;

  @BeforeEach
  void open() {
    test = new TestJobs(directory);
  }

  @AfterEach
  void close() throws IOException {
    test.close();
  }

  private int filesOnDisk() throws IOException {
    try (Stream<Path> files = Files.list(directory.resolve("results"))) {
      return (int) files.count();
    }
  }

  private static byte[] bytes(String text) {
    return text.getBytes(StandardCharsets.UTF_8);
  }

  @Test
  void shouldKeepAResultThroughARestart() throws IOException {
    JobRecord job = test.run("alice", TestJobs.writes("1,2,3"));

    test.restart();

    JobRecord found = test.jobs.find(ALICE, job.token()).orElseThrow();
    assertEquals(JobState.SUCCEEDED, found.state());
    assertEquals(3, found.rows());
    assertEquals(5, found.files().getFirst().bytes());
    assertArrayEquals(bytes("1,2,3"), test.read(ALICE, found, 1));
    assertEquals(5, test.jobs.usedBytes());
  }

  @Test
  void shouldPublishSeveralFilesOfOneResult() throws IOException {
    JobRecord job =
        test.run(
            "alice",
            new TestJobs.Simple() {
              @Override
              public void run(JobContext context) {
                for (int i = 0; i < 3; i++) {
                  try (ResultFile file = context.open("text/csv", "gzip", "csv.gz")) {
                    file.write('a' + i);
                    file.publish();
                  }
                }
              }
            });

    assertEquals(
        List.of("result-1.csv.gz", "result-2.csv.gz", "result-3.csv.gz"),
        job.files().stream().map(JobFile::name).toList());
    assertArrayEquals(bytes("c"), test.read(ALICE, job, 3));
    assertTrue(test.jobs.openFile(ALICE, job.token(), 4).isEmpty());
    assertTrue(test.jobs.openFile(ALICE, job.token(), 0).isEmpty());
  }

  @Test
  void shouldHaveNoFilesOfAFailedJob() throws IOException {
    JobRecord job =
        test.run(
            "alice",
            new TestJobs.Simple() {
              @Override
              public void run(JobContext context) {
                try (ResultFile file = context.open("text/csv", "", "csv")) {
                  file.write(bytes("whole"), 0, 5);
                  file.publish();
                }
                ResultFile unfinished = context.open("text/csv", "", "csv");
                unfinished.write(new byte[1 << 19], 0, 1 << 19);
                throw new EngineException(ErrorCode.DIVISION_BY_ZERO, "division by zero")
                    .withHint("Do not.");
              }
            });

    assertEquals(JobState.FAILED, job.state());
    JobFailure failure = job.failure();
    assertNotNull(failure);
    assertEquals(ErrorCode.DIVISION_BY_ZERO, failure.code());
    assertEquals("Do not.", failure.hint());
    assertEquals(List.of(), job.files());
    assertEquals(0, filesOnDisk());
    assertEquals(0, test.jobs.usedBytes());
  }

  @Test
  void shouldTellNothingOfInternalErrors() {
    JobRecord job =
        test.run(
            "alice",
            new TestJobs.Simple() {
              @Override
              public void run(JobContext context) {
                throw new IllegalStateException("secret");
              }
            });

    JobFailure failure = job.failure();
    assertNotNull(failure);
    assertEquals(ErrorCode.INTERNAL_ERROR, failure.code());
    assertTrue(
        failure.message().matches("internal error; .* under id [0-9a-f]{16}"), failure.message());
  }

  @Test
  void shouldKeepLongMessagesAndManyFiles() throws IOException {
    String longText = "x".repeat(3_000_000);
    JobRecord failed =
        test.run(
            "alice",
            new TestJobs.Simple() {
              @Override
              public void run(JobContext context) {
                throw new EngineException(ErrorCode.UNIQUE_VIOLATION, longText)
                    .withDetail(longText);
              }
            });
    JobWork many =
        new TestJobs.Simple() {
          @Override
          public void run(JobContext context) {
            for (int i = 0; i < 1_001; i++) {
              try (ResultFile file = context.open("text/csv", "", "csv")) {
                assertTrue(file.bytes() < context.fileBytes());
              }
            }
          }
        };
    JobRecord tooMany = test.run("alice", many);
    test.restart();

    JobFailure failure = test.jobs.find(ALICE, failed.token()).orElseThrow().failure();
    assertNotNull(failure);
    assertEquals(JobFailure.TEXT_CHARACTERS, failure.detail().length());
    JobFailure limit = test.jobs.find(ALICE, tooMany.token()).orElseThrow().failure();
    assertNotNull(limit);
    assertEquals(ErrorCode.LIMIT_EXCEEDED, limit.code());
    assertEquals(0, filesOnDisk());
  }

  @Test
  void shouldHideJobsAndResultsOfOthers() {
    JobRecord job = test.run("alice", TestJobs.writes("1"));
    JobViewer monitor = new JobViewer("bob", true, false);
    JobViewer signal = new JobViewer("bob", true, true);

    assertTrue(test.jobs.find(BOB, job.token()).isEmpty());
    assertTrue(test.jobs.cancel(BOB, job.token()).isEmpty());
    assertFalse(test.jobs.delete(BOB, job.token()));
    assertTrue(test.jobs.find(monitor, job.token()).isPresent());
    assertTrue(test.jobs.openFile(monitor, job.token(), 1).isEmpty());
    assertTrue(test.jobs.cancel(monitor, job.token()).isEmpty());
    assertFalse(test.jobs.delete(monitor, job.token()));
    assertTrue(test.jobs.delete(signal, job.token()));
    assertTrue(test.jobs.find(ALICE, job.token()).isEmpty());
  }

  @Test
  void shouldFindNothingByWhatIsNoToken() {
    for (String token :
        List.of("", "../../journal", "x".repeat(32), "A".repeat(32), "0".repeat(32))) {
      assertTrue(test.jobs.find(ALICE, token).isEmpty(), token);
    }
  }

  @Test
  void shouldCancelARunningJob() {
    TestJobs.Waiting work = new TestJobs.Waiting();
    JobRecord job = test.jobs.submit("alice", "select pg_sleep(100)", work);
    work.awaitBegin();

    test.jobs.cancel(ALICE, job.token());

    JobRecord ended = test.await(job);
    assertEquals(JobState.CANCELED, ended.state());
    assertEquals("select pg_sleep(100)", ended.text());
  }

  @Test
  void shouldRunSoManyJobsOfAUserAndOthersBeside() throws IOException {
    test.restart(TestJobs.settings(100, 2, 1 << 20));
    List<TestJobs.Waiting> works = new ArrayList<>();
    List<JobRecord> jobs = new ArrayList<>();
    for (int i = 0; i < 4; i++) {
      works.add(new TestJobs.Waiting());
      jobs.add(test.jobs.submit("alice", "select " + i, works.get(i)));
    }
    works.get(0).awaitBegin();
    works.get(1).awaitBegin();
    test.run("bob", TestJobs.writes("1"));

    assertEquals(JobState.QUEUED, test.jobs.find(ALICE, jobs.get(2).token()).orElseThrow().state());
    test.jobs.cancel(ALICE, jobs.get(2).token());
    assertEquals(JobState.CANCELED, test.await(jobs.get(2)).state());
    works.get(1).finish();
    works.get(3).awaitBegin();
    works.get(0).finish();
    works.get(3).finish();
    assertEquals(JobState.SUCCEEDED, test.await(jobs.get(3)).state());
    assertEquals(1, works.get(2).begun.getCount(), "a canceled job has begun");
  }

  @Test
  void shouldRefuseTooManyJobsOfAUser() throws IOException {
    test.restart(TestJobs.settings(2, 4, 1 << 20));
    test.run("alice", TestJobs.writes("1"));
    JobRecord second = test.run("alice", TestJobs.writes("1"));

    JobRefusal refusal =
        assertThrows(JobRefusal.class, () -> test.jobs.submit("alice", "x", TestJobs.writes("1")));
    assertEquals(JobRefusal.Reason.TOO_MANY_JOBS, refusal.reason());
    test.run("bob", TestJobs.writes("1"));
    assertTrue(test.jobs.delete(ALICE, second.token()));
    test.run("alice", TestJobs.writes("1"));
  }

  /// Requests that wait are in memory.
  @Test
  void shouldBoundTheMemoryOfWorksThatWait() {
    List<JobRecord> jobs = new ArrayList<>();
    TestJobs.Waiting wait = new TestJobs.Waiting();
    JobWork large =
        new JobWork() {
          @Override
          public void run(JobContext context) {
            wait.run(context);
          }

          @Override
          public void cancel() {}

          @Override
          public long heldBytes() {
            return 8 << 20;
          }
        };
    Executable fill =
        () -> {
          while (true) {
            jobs.add(test.jobs.submit("alice", "x", large));
          }
        };
    JobRefusal refusal = assertThrows(JobRefusal.class, fill);
    assertEquals(JobRefusal.Reason.TOO_MANY_JOBS, refusal.reason());
    assertEquals(8, jobs.size());
    jobs.add(test.jobs.submit("bob", "x", large));
    jobs.add(test.jobs.submit("alice", "x", TestJobs.writes("small")));

    wait.finish();

    jobs.forEach(test::await);
    Await.until("a job is taken again", () -> isTaken(large));
  }

  private boolean isTaken(JobWork work) {
    try {
      test.await(test.jobs.submit("alice", "x", work));
      return true;
    } catch (JobRefusal e) {
      return false;
    }
  }

  @Test
  void shouldListOwnJobsByPagesNewestFirst() {
    List<String> tokens = new ArrayList<>();
    for (int i = 0; i < 5; i++) {
      test.pass(Duration.ofSeconds(1));
      tokens.add(test.run("alice", TestJobs.writes("1")).token());
      test.run("bob", TestJobs.writes("1"));
    }
    Collections.reverse(tokens);

    List<String> listed = new ArrayList<>();
    String after = null;
    do {
      Jobs.Page page = test.jobs.list(ALICE, after, 2);
      page.jobs().forEach(job -> listed.add(job.token()));
      after = page.next();
      if (listed.size() == 2) {
        // The end of a page may go.
        assertTrue(test.jobs.delete(ALICE, listed.getLast()));
      }
    } while (after != null);

    assertEquals(tokens, listed);
    assertEquals(9, test.jobs.list(new JobViewer("carol", true, false), null, 100).jobs().size());
    for (String wrong :
        List.of("", "x", "1.2", ".".repeat(40), "99999999999999999999." + tokens.getFirst())) {
      assertThrows(IllegalArgumentException.class, () -> test.jobs.list(ALICE, wrong, 1));
    }
  }

  @Test
  void shouldLetTheTimeBeginAnewWithEachRead() throws IOException {
    JobRecord job = test.run("alice", TestJobs.writes("1"));
    for (int i = 0; i < 3; i++) {
      test.pass(Duration.ofMinutes(9));
      test.read(ALICE, job, 1);
      test.sweep();
    }
    // Others' looks do not count, and a restart changes nothing.
    test.pass(Duration.ofMinutes(9));
    test.restart();
    test.jobs.find(new JobViewer("carol", true, true), job.token());
    assertEquals(1, filesOnDisk());
    test.pass(Duration.ofMinutes(1));
    test.sweep();

    assertTrue(test.jobs.find(ALICE, job.token()).isEmpty());
    assertEquals(0, filesOnDisk());
    assertEquals(0, test.jobs.usedBytes());
  }

  @Test
  void shouldHoldAFileWhileItIsRead() throws IOException {
    JobRecord job = test.run("alice", TestJobs.writes("long"));
    JobRecord other = test.run("alice", TestJobs.writes("other"));

    try (FileHold hold = test.jobs.openFile(ALICE, job.token(), 1).orElseThrow();
        FileHold second = test.jobs.openFile(ALICE, other.token(), 1).orElseThrow()) {
      test.pass(Duration.ofDays(1));
      test.sweep();
      assertTrue(test.jobs.delete(ALICE, other.token()));
      assertTrue(test.jobs.find(ALICE, other.token()).isEmpty());
      assertArrayEquals(bytes("long"), TestJobs.readAll(hold));
      assertArrayEquals(bytes("other"), TestJobs.readAll(second));
      assertEquals(2, filesOnDisk());
    }

    assertEquals(1, filesOnDisk());
    test.sweep();
    assertArrayEquals(bytes("long"), test.read(ALICE, job, 1));
  }

  @Test
  void shouldRefuseResultsBeyondTheSpaceOfAUser() throws IOException {
    test.restart(TestJobs.settings(100, 4, 700_000));
    JobRecord first = test.run("alice", TestJobs.writes(new byte[600_000]));
    JobRecord second = test.run("alice", TestJobs.writes(new byte[600_000]));

    assertEquals(JobState.FAILED, second.state());
    JobFailure failure = second.failure();
    assertNotNull(failure);
    assertEquals(ErrorCode.DISK_FULL, failure.code());
    assertTrue(failure.detail().contains("700000"), failure.detail());
    assertEquals(600_000, test.jobs.usedBytes());
    assertEquals(JobState.SUCCEEDED, test.run("bob", TestJobs.writes(new byte[600_000])).state());
    assertTrue(test.jobs.delete(ALICE, first.token()));
    assertEquals(JobState.SUCCEEDED, test.run("alice", TestJobs.writes(new byte[600_000])).state());
  }

  @Test
  void shouldCountJobsByTheirState() throws IOException {
    test.run("alice", TestJobs.writes("1"));
    JobRecord deleted = test.run("alice", TestJobs.writes("1"));
    TestJobs.Waiting work = new TestJobs.Waiting();
    JobRecord running = test.jobs.submit("alice", "x", work);
    work.awaitBegin();
    assertTrue(test.jobs.delete(ALICE, deleted.token()));

    assertEquals(1, test.jobs.counts().jobs().get(JobState.SUCCEEDED));
    assertEquals(1, test.jobs.counts().jobs().get(JobState.RUNNING));
    test.jobs.cancel(ALICE, running.token());
    test.await(running);
    test.restart();
    assertEquals(1, test.jobs.counts().jobs().get(JobState.SUCCEEDED));
    assertEquals(1, test.jobs.counts().jobs().get(JobState.CANCELED));
    assertEquals(0, test.jobs.counts().jobs().get(JobState.RUNNING));
  }

  @Test
  void shouldLetNobodyWaitBeforeTheEnd() {
    TestJobs.Waiting work = new TestJobs.Waiting();
    JobRecord job = test.jobs.submit("alice", "x", work);
    work.awaitBegin();
    CountDownLatch told = new CountDownLatch(1);
    test.jobs.whenEnded(ALICE, job.token(), TestJobs.LONG, told::countDown);

    test.jobs.stopWaiting();

    TestJobs.await(told);
    assertEquals(
        JobState.RUNNING, test.jobs.await(ALICE, job.token(), TestJobs.LONG).orElseThrow().state());
    assertEquals(0, test.jobs.waiting());
  }

  @Test
  void shouldShowProgress() {
    TestJobs.Waiting wait = new TestJobs.Waiting();
    JobRecord job =
        test.jobs.submit(
            "alice",
            "select",
            new JobWork() {
              @Override
              public void run(JobContext context) {
                context.scans(() -> 100);
                context.rowsWritten(10);
                wait.run(context);
              }

              @Override
              public void cancel() {
                wait.cancel();
              }
            });
    wait.awaitBegin();

    JobRecord running = test.jobs.find(ALICE, job.token()).orElseThrow();

    assertEquals(JobState.RUNNING, running.state());
    assertEquals(100, running.rowsScanned());
    assertEquals(10, running.rows());
    wait.finish();
    assertEquals(10, test.await(job).rows());
  }

  @Test
  void shouldSayThatJobsWereInterrupted() throws IOException {
    TestJobs.Waiting work = new TestJobs.Waiting();
    JobRecord job = test.jobs.submit("alice", "select", work);
    work.awaitBegin();

    test.restart();

    JobRecord found = test.jobs.find(ALICE, job.token()).orElseThrow();
    assertEquals(JobState.INTERRUPTED, found.state());
    JobFailure failure = found.failure();
    assertNotNull(failure);
    assertEquals(ErrorCode.SHUTTING_DOWN, failure.code());
  }

  @Test
  void shouldRemoveWhatBelongsToNoJob() throws IOException {
    JobRecord job = test.run("alice", TestJobs.writes("1"));
    test.jobs.close();
    Files.writeString(directory.resolve("results/17"), "of a crash");
    Files.writeString(directory.resolve("results/18.part"), "of a crash");
    Files.writeString(directory.resolve("results/notes"), "of somebody");

    test.restart();

    assertEquals(1, filesOnDisk());
    assertArrayEquals(bytes("1"), test.read(ALICE, job, 1));
    // Numbers are not used again.
    JobRecord next = test.run("alice", TestJobs.writes("2"));
    assertTrue(next.files().getFirst().id() > 18);
  }

  @Test
  void shouldSayThatAResultIsLostWhenItsFileIs() throws IOException {
    JobRecord job = test.run("alice", TestJobs.writes("12345"));
    test.jobs.close();
    Files.writeString(directory.resolve("results/" + job.files().getFirst().id()), "123");

    test.restart();

    JobRecord found = test.jobs.find(ALICE, job.token()).orElseThrow();
    assertEquals(JobState.SUCCEEDED, found.state());
    assertEquals(ResultState.LOST, found.result());
    assertEquals(0, filesOnDisk());
    assertEquals(0, test.jobs.usedBytes());
  }

  @Test
  void shouldKeepTheBeginningOfAStatement() {
    JobRecord job = test.jobs.submit("alice", "😀".repeat(1000), TestJobs.writes("1"));

    assertTrue(job.text().length() <= JobRecord.TEXT_CHARACTERS);
    assertTrue(job.text().endsWith("😀…"), job.text());
    assertNull(test.await(job).failure());
  }
}
