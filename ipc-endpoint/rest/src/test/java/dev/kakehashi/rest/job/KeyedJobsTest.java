package dev.kakehashi.rest.job;

import static dev.kakehashi.rest.job.TestJobs.ALICE;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.protocol.ErrorCode;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.function.Executable;
import org.junit.jupiter.api.io.TempDir;

@Timeout(120)
class KeyedJobsTest {
  @TempDir Path directory;

  private TestJobs test;
  private final AtomicInteger runs = new AtomicInteger();

  @BeforeEach
  void open() {
    test = new TestJobs(directory);
  }

  @AfterEach
  void close() throws IOException {
    test.close();
  }

  private JobWork counting() {
    return new TestJobs.Simple() {
      @Override
      public void run(JobContext context) {
        runs.incrementAndGet();
        assertTrue(context.answer(answer("row " + runs.get())));
      }
    };
  }

  /// A work that records its transaction and then waits.
  private static JobWork in(String transaction, TestJobs.Waiting wait) {
    return new JobWork() {
      @Override
      public void run(JobContext context) {
        context.recordTransaction(transaction);
        wait.run(context);
      }

      @Override
      public void cancel() {
        wait.cancel();
      }
    };
  }

  private static StoredAnswer answer(String body) {
    return new StoredAnswer(
        200,
        List.of(new StoredAnswer.Header("Kakehashi-Transaction", "committed")),
        "application/json",
        body.getBytes(StandardCharsets.UTF_8));
  }

  private Jobs.Submission submit(String user, String key, String body, JobWork work) {
    return test.jobs.submit(user, body, work, TestJobs.key(user, key, body));
  }

  private static void assertRefused(JobRefusal.Reason reason, Executable call) {
    assertEquals(reason, assertThrows(JobRefusal.class, call).reason());
  }

  private static String body(JobRecord job) {
    StoredAnswer answer = job.answer();
    assertNotNull(answer);
    assertEquals(
        List.of(new StoredAnswer.Header("Kakehashi-Transaction", "committed")), answer.headers());
    return new String(answer.body(), StandardCharsets.UTF_8);
  }

  @Test
  void shouldGiveTheSameJobForTheSameRequest() throws IOException {
    Jobs.Submission first = submit("alice", "k", "insert", counting());
    test.await(first.job());
    Jobs.Submission second = submit("alice", "k", "insert", counting());
    test.restart();
    Jobs.Submission third = submit("alice", "k", "insert", counting());

    assertTrue(first.isNew());
    assertFalse(second.isNew());
    assertFalse(third.isNew());
    assertEquals(first.job().token(), third.job().token());
    assertEquals("row 1", body(second.job()));
    assertEquals("row 1", body(third.job()));
    assertEquals(1, runs.get());
  }

  @Test
  void shouldRefuseAnotherRequestUnderTheKey() {
    test.await(submit("alice", "k", "insert 1", counting()).job());

    assertRefused(
        JobRefusal.Reason.OTHER_REQUEST, () -> submit("alice", "k", "insert 2", counting()));
    assertRefused(
        JobRefusal.Reason.OTHER_REQUEST,
        () -> test.jobs.claim("alice", TestJobs.key("alice", "k", "commit"), true));
    // Keys of others are others.
    assertTrue(submit("bob", "k", "insert 2", counting()).isNew());
  }

  @Test
  void shouldTakeEffectOnceForRequestsAtOnce() throws Exception {
    int threads = 8;
    for (int round = 0; round < 20; round++) {
      String key = "round " + round;
      List<Future<Jobs.Submission>> calls = new ArrayList<>();
      try (ExecutorService pool = Executors.newFixedThreadPool(threads)) {
        for (int i = 0; i < threads; i++) {
          calls.add(pool.submit(() -> submit("alice", key, "insert", counting())));
        }
      }
      Set<String> tokens = new HashSet<>();
      int began = 0;
      for (Future<Jobs.Submission> call : calls) {
        tokens.add(test.await(call.get().job()).token());
        began += call.get().isNew() ? 1 : 0;
      }
      assertEquals(1, tokens.size());
      assertEquals(1, began);
      assertEquals(round + 1, runs.get());
    }
  }

  @Test
  void shouldRunAgainUnderItsNameWhatHadNoEffect() throws IOException {
    TestJobs.Waiting wait = new TestJobs.Waiting();
    JobRecord first = submit("alice", "k", "insert", in("t1", wait)).job();
    wait.awaitBegin();
    test.outcomes.put("t1", OutcomeLookup.Outcome.ROLLED_BACK);
    test.restart();
    assertEquals(JobState.INTERRUPTED, test.jobs.find(ALICE, first.token()).orElseThrow().state());

    Jobs.Submission again = submit("alice", "k", "insert", counting());

    assertTrue(again.isNew());
    assertEquals(first.token(), again.job().token());
    JobRecord ended = test.await(again.job());
    assertEquals(JobState.SUCCEEDED, ended.state());
    assertEquals("", ended.transaction());
    assertEquals(1, runs.get());
  }

  @Test
  void shouldNotRunAgainWhatHasCommittedBeforeTheCrash() throws IOException {
    TestJobs.Waiting wait = new TestJobs.Waiting();
    JobRecord first = submit("alice", "k", "insert", in("t1", wait)).job();
    wait.awaitBegin();
    test.outcomes.put("t1", OutcomeLookup.Outcome.COMMITTED);

    test.restart();

    Jobs.Submission again = submit("alice", "k", "insert", counting());
    assertFalse(again.isNew());
    assertEquals(first.token(), again.job().token());
    assertEquals(JobState.SUCCEEDED, again.job().state());
    assertEquals(ResultState.LOST, again.job().result());
    assertEquals(-1, again.job().rows());
    assertEquals(0, runs.get());
  }

  /// Its client would repeat what he is told has failed.
  @Test
  void shouldSucceedWhenItsResultIsLostAfterTheCommit() {
    for (OutcomeLookup.Outcome outcome : OutcomeLookup.Outcome.values()) {
      String transaction = "t " + outcome;
      JobWork commitsAndFails =
          new TestJobs.Simple() {
            @Override
            public void run(JobContext context) {
              context.recordTransaction(transaction);
              test.outcomes.put(transaction, outcome);
              context.rowsWritten(7);
              throw new EngineException(ErrorCode.DISK_FULL, "no room for the result");
            }
          };

      JobRecord job = test.await(submit("alice", "k " + outcome, "insert", commitsAndFails).job());

      if (outcome == OutcomeLookup.Outcome.COMMITTED) {
        assertEquals(JobState.SUCCEEDED, job.state());
        assertEquals(ResultState.LOST, job.result());
        assertEquals(-1, job.rows());
      } else {
        assertEquals(JobState.FAILED, job.state());
      }
    }
  }

  @Test
  void shouldAskAgainForAnOutcomeThatWasNotKnown() throws IOException {
    TestJobs.Waiting wait = new TestJobs.Waiting();
    submit("alice", "k", "insert", in("t1", wait));
    wait.awaitBegin();
    test.outcomes.put("t1", OutcomeLookup.Outcome.UNKNOWN);
    test.restart();

    assertRefused(
        JobRefusal.Reason.OUTCOME_UNKNOWN, () -> submit("alice", "k", "insert", counting()));
    test.outcomes.put("t1", OutcomeLookup.Outcome.COMMITTED);
    assertEquals(JobState.SUCCEEDED, submit("alice", "k", "insert", counting()).job().state());
    assertEquals(0, runs.get());
  }

  @Test
  void shouldSayThatTheJobOfAKeyWasDeleted() throws IOException {
    JobRecord job = test.await(submit("alice", "k", "insert", counting()).job());
    assertTrue(test.jobs.delete(ALICE, job.token()));

    assertRefused(JobRefusal.Reason.JOB_GONE, () -> submit("alice", "k", "insert", counting()));
    test.restart();
    assertRefused(JobRefusal.Reason.JOB_GONE, () -> submit("alice", "k", "insert", counting()));
    assertEquals(List.of(), test.jobs.list(ALICE, null, 10).jobs());
    assertEquals(1, runs.get());
  }

  @Test
  void shouldKeepAKeyForItsTimeAndLongerThanItsResult() throws IOException {
    JobRecord job = test.await(submit("alice", "k", "select", TestJobs.writes("1")).job());
    test.pass(Duration.ofMinutes(30));
    test.sweep();

    JobRecord expired = submit("alice", "k", "select", TestJobs.writes("1")).job();
    assertEquals(job.token(), expired.token());
    assertEquals(ResultState.EXPIRED, expired.result());
    assertEquals(0, test.jobs.usedBytes());

    test.pass(Duration.ofMinutes(31));
    test.sweep();
    assertTrue(submit("alice", "k", "select", TestJobs.writes("1")).isNew());
  }

  @Test
  void shouldBoundTheKeysOfAUserAndLeaveRoomForOthers() throws IOException {
    JobSettings s = test.settings;
    test.restart(
        new JobSettings(
            s.retention(),
            s.keyRetention(),
            100,
            100,
            4,
            40,
            30,
            s.bytes(),
            s.bytesPerUser(),
            s.fileBytes()));
    int alice = fill("alice");
    int bob = fill("bob");
    int carol = fill("carol");

    assertEquals(20, alice);
    assertEquals(10, bob);
    assertEquals(5, carol);
    // A refused job takes nothing.
    assertEquals(0, fill("carol"));
    test.pass(Duration.ofHours(2));
    test.sweep();
    assertEquals(20, fill("carol"));
  }

  @Test
  void shouldGiveUpResultsThatWereAnsweredWhenRoomIsNeeded() throws IOException {
    test.restart(TestJobs.settings(3, 4, 1 << 20));
    JobViewer alice = JobViewer.of("alice");
    List<String> tokens = new ArrayList<>();
    for (int i = 0; i < 50; i++) {
      JobRecord job = test.await(submit("alice", "k" + i, "q" + i, TestJobs.writes("x")).job());
      tokens.add(job.token());
      test.jobs.answered(alice, job.token());
    }
    // Without a key, as a load.
    test.run("alice", TestJobs.writes("load"));

    JobRecord oldest = test.jobs.find(alice, tokens.getFirst()).orElseThrow();
    assertEquals(ResultState.EXPIRED, oldest.result());
    assertEquals(
        ResultState.AVAILABLE, test.jobs.find(alice, tokens.getLast()).orElseThrow().result());
    Jobs.Submission again = submit("alice", "k0", "q0", TestJobs.writes("other"));
    assertFalse(again.isNew());
    assertEquals(oldest.token(), again.job().token());
  }

  @Test
  void shouldKeepResultsThatNobodyHasGotYet() throws IOException {
    test.restart(TestJobs.settings(3, 4, 1 << 20));
    for (int i = 0; i < 3; i++) {
      test.await(submit("alice", "k" + i, "q" + i, TestJobs.writes("x")).job());
    }
    assertRefused(
        JobRefusal.Reason.TOO_MANY_JOBS, () -> submit("alice", "k3", "q3", TestJobs.writes("x")));
  }

  private int fill(String user) {
    for (int i = 0; ; i++) {
      try {
        test.await(submit(user, "key " + System.nanoTime() + " " + i, "insert", counting()).job());
      } catch (JobRefusal e) {
        assertEquals(JobRefusal.Reason.TOO_MANY_KEYS, e.reason());
        assertTrue(e.retryAfterSeconds() > 0);
        return i;
      }
    }
  }

  @Test
  void shouldKeepTheAnswersOfRequestsThatAreNoJobs() throws IOException {
    KeyedRequest request = TestJobs.key("alice", "k", "begin");
    KeyClaim.First first =
        assertInstanceOf(KeyClaim.First.class, test.jobs.claim("alice", request, false));
    assertRefused(JobRefusal.Reason.IN_PROGRESS, () -> test.jobs.claim("alice", request, false));
    first.complete(answer("handle"));
    first.close();

    for (int i = 0; i < 2; i++) {
      KeyClaim.Answered second =
          assertInstanceOf(KeyClaim.Answered.class, test.jobs.claim("alice", request, false));
      assertEquals("handle", new String(second.answer().body(), StandardCharsets.UTF_8));
      assertEquals(200, second.answer().status());
      test.restart();
    }
    assertRefused(
        JobRefusal.Reason.OTHER_REQUEST,
        () -> test.jobs.claim("alice", TestJobs.key("alice", "k", "other"), false));
    assertRefused(JobRefusal.Reason.OTHER_REQUEST, () -> submit("alice", "k", "begin", counting()));
  }

  @Test
  void shouldFreeTheKeyOfARequestWithoutEffect() {
    KeyedRequest request = TestJobs.key("alice", "k", "begin");
    try (KeyClaim.First first =
        assertInstanceOf(KeyClaim.First.class, test.jobs.claim("alice", request, false))) {
      assertNotNull(first);
    }

    assertInstanceOf(KeyClaim.First.class, test.jobs.claim("alice", request, false));
  }

  @Test
  void shouldRepeatAfterACrashOnlyWhatMayBeRepeated() throws IOException {
    for (boolean repeatable : new boolean[] {false, true}) {
      KeyedRequest request = TestJobs.key("alice", "k " + repeatable, "begin");
      test.jobs.claim("alice", request, repeatable);
      test.restart();
      if (repeatable) {
        assertInstanceOf(KeyClaim.First.class, test.jobs.claim("alice", request, true));
      } else {
        assertRefused(
            JobRefusal.Reason.OUTCOME_UNKNOWN, () -> test.jobs.claim("alice", request, false));
      }
    }
  }
}
