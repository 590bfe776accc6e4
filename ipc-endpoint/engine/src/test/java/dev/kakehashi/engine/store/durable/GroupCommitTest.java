package dev.kakehashi.engine.store.durable;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.engine.api.thread.BlockingExecutor;
import dev.kakehashi.engine.store.TestLog;
import dev.kakehashi.engine.store.log.LogRecord;
import dev.kakehashi.protocol.ErrorCode;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(120)
final class GroupCommitTest {
  private static LogRecord record(int bytes) {
    LogRecord record = new LogRecord(bytes);
    record.putBytes(new byte[bytes]);
    return record;
  }

  private static CompletableFuture<Optional<Throwable>> commit(
      GroupCommit group, int bytes, boolean stored) {
    CompletableFuture<Optional<Throwable>> result = new CompletableFuture<>();
    group.finished(
        group.enqueue(
            record(bytes), 0, stored, failure -> result.complete(Optional.ofNullable(failure))));
    return result;
  }

  @Test
  void shouldFlushCommitsTogetherThatArriveDuringAFlush() throws Exception {
    TestLog log = new TestLog();
    CountDownLatch gate = new CountDownLatch(1);
    log.gate = gate;
    try (GroupCommit group = new GroupCommit(log)) {
      List<CompletableFuture<Optional<Throwable>>> results = new ArrayList<>();
      results.add(commit(group, 1, true));
      log.entered.await();
      for (int i = 2; i <= 50; i++) {
        results.add(commit(group, i, true));
      }
      assertTrue(results.stream().noneMatch(CompletableFuture::isDone));
      gate.countDown();
      for (CompletableFuture<Optional<Throwable>> result : results) {
        assertEquals(Optional.empty(), result.get());
      }
      assertEquals(List.of(1, 49), log.flushes);
      for (int i = 0; i < 50; i++) {
        assertEquals(i + 1, log.written.get(i));
      }
    }
  }

  @Test
  void shouldReportAvailableCommitsBeforeTheyAreStoredAndStoreThemAtClose() throws Exception {
    TestLog log = new TestLog();
    CountDownLatch gate = new CountDownLatch(1);
    log.gate = gate;
    GroupCommit group = new GroupCommit(log);
    assertEquals(Optional.empty(), commit(group, 1, false).get());
    assertEquals(Optional.empty(), commit(group, 2, false).get());
    gate.countDown();
    group.close();
    assertEquals(List.of(1, 2), log.written);
  }

  @Test
  void shouldReportAFullDiskAndGoOnWhenThereIsRoomAgain() throws Exception {
    TestLog log = new TestLog();
    log.full = true;
    try (GroupCommit group = new GroupCommit(log)) {
      Throwable failure = commit(group, 1, true).get().orElseThrow();
      assertEquals(ErrorCode.DISK_FULL, ((EngineException) failure).code());
      assertNotNull(group.failure());
      log.full = false;
      // The record that was queued before is written first.
      assertEquals(Optional.empty(), commit(group, 2, true).get(60, TimeUnit.SECONDS));
      assertEquals(List.of(1, 2), log.written);
      assertNull(group.failure());
    }
  }

  /// An executor that keeps what it is asked for; the test runs it.
  private static final class Deferred implements BlockingExecutor {
    private final Set<Runnable> work = new LinkedHashSet<>();

    /// Whether its thread is taken back as soon as work has blocked.
    private boolean takesBack;

    private int takenBack;

    @Override
    public boolean tryDefer(Runnable deferred) {
      work.add(deferred);
      return true;
    }

    @Override
    public boolean unblocked() {
      takenBack += takesBack ? 1 : 0;
      return takesBack;
    }

    void run() {
      List<Runnable> now = List.copyOf(work);
      work.clear();
      now.forEach(Runnable::run);
    }
  }

  /// A group whose durability thread sleeps until it is woken. One that has just started flushes what it finds after some milliseconds,
  /// whoever else was to do it.
  private static GroupCommit idle(TestLog log) {
    Set<Thread> before = Thread.getAllStackTraces().keySet();
    GroupCommit group = new GroupCommit(log);
    Thread durability =
        Thread.getAllStackTraces().keySet().stream()
            .filter(thread -> !before.contains(thread))
            .filter(thread -> thread.getName().equals("kakehashi-durability"))
            .findFirst()
            .orElseThrow();
    while (durability.getState() != Thread.State.WAITING) {
      Thread.onSpinWait();
    }
    return group;
  }

  @Test
  void shouldFlushOnTheCommittingThreadWhereThatMayBlock() {
    TestLog log = new TestLog();
    Deferred deferred = new Deferred();
    try (GroupCommit group = idle(log)) {
      group.blockingExecutor(deferred);
      var first = commit(group, 1, true);
      var second = commit(group, 2, true);
      assertEquals(1, deferred.work.size());
      deferred.run();
      assertEquals(Optional.empty(), first.getNow(Optional.of(new AssertionError("not flushed"))));
      assertEquals(Optional.empty(), second.getNow(Optional.of(new AssertionError("not flushed"))));
      assertEquals(List.of(2), log.flushes);
    }
  }

  @Test
  void shouldFlushWhatArrivesDuringAFlushOnAnotherThreadBeforeThatReturns() throws Exception {
    TestLog log = new TestLog();
    CountDownLatch gate = new CountDownLatch(1);
    log.gate = gate;
    Deferred deferred = new Deferred();
    try (GroupCommit group = idle(log)) {
      group.blockingExecutor(deferred);
      var first = commit(group, 1, true);
      Thread flusher = new Thread(deferred::run);
      flusher.start();
      log.entered.await();
      var second = commit(group, 2, true);
      deferred.run(); // returns: another thread flushes
      group.blockingExecutor(BlockingExecutor.NONE);
      var third = commit(group, 3, true);
      assertFalse(first.isDone() || second.isDone() || third.isDone());
      gate.countDown();
      for (var result : List.of(first, second, third)) {
        assertEquals(Optional.empty(), result.get());
      }
      flusher.join();
      assertEquals(List.of(1, 2, 3), log.written);
    }
  }

  @Test
  void shouldGiveTheThreadBackBeforeItTellsAndDeferWhatArrivesThen() {
    TestLog log = new TestLog();
    Deferred deferred = new Deferred();
    deferred.takesBack = true;
    try (GroupCommit group = idle(log)) {
      group.blockingExecutor(deferred);
      var first = commit(group, 1, true);
      var second =
          first.thenCompose(result -> {
            assertEquals(1, deferred.takenBack);
            return commit(group, 2, true);
          });
      deferred.run();
      assertEquals(Optional.empty(), first.getNow(Optional.of(new AssertionError("not flushed"))));
      assertFalse(second.isDone());
      assertEquals(1, deferred.work.size());
      deferred.run();
      assertEquals(Optional.empty(), second.getNow(Optional.of(new AssertionError("not flushed"))));
      assertEquals(List.of(1, 1), log.flushes);
    }
  }

  @Test
  void shouldLeaveAFlushThatFailedToTheDurabilityThread() throws Exception {
    TestLog log = new TestLog();
    log.full = true;
    CountDownLatch gate = new CountDownLatch(1);
    log.gateOfRetry = gate; // else what comes second may be told of a failure, too
    Deferred deferred = new Deferred();
    try (GroupCommit group = new GroupCommit(log)) {
      group.blockingExecutor(deferred);
      var first = commit(group, 1, true);
      deferred.run();
      Throwable failure = first.get().orElseThrow();
      assertEquals(ErrorCode.DISK_FULL, ((EngineException) failure).code());
      var second = commit(group, 2, true);
      deferred.run(); // the one before comes first
      assertFalse(second.isDone());
      log.full = false;
      gate.countDown();
      assertEquals(Optional.empty(), second.get(60, TimeUnit.SECONDS));
      assertEquals(List.of(1, 2), log.written);
    }
  }

  @Test
  void shouldStoreAtCloseWhatWasDeferredAndNotRun() {
    TestLog log = new TestLog();
    Deferred deferred = new Deferred();
    GroupCommit group = new GroupCommit(log);
    group.blockingExecutor(deferred);
    var result = commit(group, 1, true);
    group.close();
    assertEquals(Optional.empty(), result.getNow(Optional.of(new AssertionError("not flushed"))));
    assertEquals(List.of(1), log.written);
    deferred.run();
    assertEquals(List.of(1), log.flushes);
  }
}
