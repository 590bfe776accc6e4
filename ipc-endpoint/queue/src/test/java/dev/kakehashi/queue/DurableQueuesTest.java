package dev.kakehashi.queue;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.engine.api.queue.LeaseHolder;
import dev.kakehashi.engine.api.queue.LeaseToken;
import dev.kakehashi.engine.api.queue.LeasedTask;
import dev.kakehashi.engine.api.queue.QueueState;
import dev.kakehashi.protocol.ErrorCode;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// The life of tasks: enqueue, receive, complete, fail, expire, restart.
class DurableQueuesTest {
  @TempDir Path directory;
  private LogHost host;

  @BeforeEach
  void open() {
    host = new LogHost(directory).start();
  }

  @AfterEach
  void shouldConserveCounts() {
    assertEquals(List.of(), host.problems());
    host.queues.close();
  }

  @Test
  void shouldHandOutInOrderOfCommits() {
    host.create(options -> options);
    host.enqueue("a");
    host.enqueue("b");
    host.enqueue("c");
    assertEquals(List.of("a", "b"), host.receiveTexts(2));
    assertEquals(List.of("c"), host.receiveTexts(5));
    assertEquals(List.of(), host.receiveTexts(5));
  }

  @Test
  void shouldHandOutOnlyWhatIsDurable() {
    host.create(options -> options);
    LogHost.Call call = host.waiting(1, 10_000);
    host.diskHeld = true;
    host.enqueue("a");
    host.settle();
    assertEquals(0, call.answers);
    host.diskHeld = false;
    host.flush();
    host.settle();
    assertEquals("a", LogHost.text(call.answer().getFirst()));
  }

  @Test
  void shouldLendANewTaskWithTheFlushThatMakesItDurable() {
    host.create(options -> options);
    LogHost.Call call = host.waiting(1, 10_000);
    LogHost.Call second = host.waiting(1, 10_000);
    host.diskHeld = true;
    host.enqueue("a");
    host.enqueue("b");
    assertEquals(2, host.ownRecords);
    assertEquals(0, call.answers + second.answers);
    host.flush();
    assertEquals(2, host.ownRecords);
    assertEquals("a", LogHost.text(call.answer().getFirst()));
    assertEquals("b", LogHost.text(second.answer().getFirst()));
    assertEquals(2, host.state().tasks().leased());
    host.complete(call.answer().getFirst());
  }

  @Test
  void shouldCountTheAttemptOfATaskThatWasPromisedBeforeACrash() {
    host.create(options -> options.maxAttempts(5));
    LogHost.Call call = host.waiting(1, 10_000);
    host.enqueue("a");
    assertEquals(1, call.answer().getFirst().token().attempt());
    host = host.crash();
    assertEquals(2, host.receiveOne().token().attempt());
  }

  @Test
  void shouldHandOutWhatWasPromisedToACallThatEnded() {
    host.create(options -> options);
    LogHost.Call call = host.waiting(1, 10_000);
    host.diskHeld = true;
    host.enqueue("a");
    host.enqueue("b");
    Objects.requireNonNull(call.waiting).cancel();
    assertEquals(List.of(), call.answer());
    host.diskHeld = false;
    host.flush();
    host.settle();
    LeasedTask first = host.receiveOne();
    assertEquals("a", LogHost.text(first));
    assertEquals(1, first.token().attempt());
    assertEquals(List.of("b"), host.receiveTexts(5));
  }

  @Test
  void shouldHandOutATaskWhoseClaimIsRefused() {
    host.create(options -> options);
    LogHost.Call call = host.waiting(1, 10_000);
    LogHost.Call other = host.waiting(1, 10_000);
    host.diskHeld = true;
    host.refuseOwn = new EngineException(ErrorCode.DISK_FULL, "full");
    host.enqueue("a");
    host.refuseOwn = null;
    assertEquals(ErrorCode.DISK_FULL, Objects.requireNonNull(call.failure).code());
    host.diskHeld = false;
    host.flush();
    host.settle();
    assertEquals("a", LogHost.text(other.answer().getFirst()));
  }

  @Test
  void shouldLookAtWhatIsBeingWrittenBeforeItFindsNothing() {
    host.create(options -> options);
    host.diskHeld = true;
    host.enqueue("a");
    LogHost.Call call = host.waiting(1, 0);
    LogHost.Call second = host.waiting(1, 0);
    assertEquals(0, call.answers + second.answers);
    host.diskHeld = false;
    host.flush();
    host.settle();
    assertEquals("a", LogHost.text(call.answer().getFirst()));
    assertEquals(List.of(), second.answer());
  }

  @Test
  void shouldHurryTasksThatSomebodyWaitsFor() {
    host.create(QueueOptionsBuilder::ordered);
    host.diskHeld = true;
    host.commit(changes -> changes.enqueue(LogHost.QUEUE, LogHost.keyed("a", "k")));
    int before = host.ownRecords;
    LogHost.Call call = host.waiting(1, 10_000);
    assertEquals(1, host.ownRecords - before);
    host.commit(changes -> changes.enqueue(LogHost.QUEUE, LogHost.keyed("b", "k")));
    assertEquals(2, host.ownRecords - before);
    host.flush();
    LeasedTask first = call.answer().getFirst();
    assertEquals("a", LogHost.text(first));
    LogHost.Call second = host.waiting(1, 10_000);
    before = host.ownRecords;
    host.complete(first);
    assertEquals(1, host.ownRecords - before);
    host.flush();
    assertEquals("b", LogHost.text(second.answer().getFirst()));
    host.diskHeld = false;
  }

  @Test
  void shouldNotLookForLongAtADiskThatTakesNothing() {
    host.create(options -> options);
    host.diskHeld = true;
    host.enqueue("a");
    LogHost.Call call = host.waiting(1, 0);
    host.advance(2_000);
    assertEquals(List.of(), call.answer());
    host.diskHeld = false;
    host.flush();
    assertEquals(List.of("a"), host.receiveTexts(1));
  }

  @Test
  void shouldNotTellOfAClaimThatIsNotDurable() {
    host.create(options -> options);
    host.enqueue("a");
    host.diskHeld = true;
    LogHost.Call call = host.waiting(1, 10_000);
    assertEquals(0, call.answers);
    host.flush();
    assertEquals(1, call.answers);
  }

  @Test
  void shouldServeWaitersWithOneRecord() {
    host.create(options -> options);
    List<LogHost.Call> calls = new ArrayList<>();
    for (int each = 0; each < 8; each++) {
      calls.add(host.waiting(10, 10_000));
    }
    int before = host.ownRecords;
    host.commit(changes -> {
      for (int each = 0; each < 8; each++) {
        changes.enqueue(LogHost.QUEUE, LogHost.task("t" + each));
      }
    });
    for (LogHost.Call each : calls) {
      assertEquals(1, each.answer().size());
    }
    assertEquals(1, host.ownRecords - before);
  }

  @Test
  void shouldEndWaitWithNothing() {
    host.create(options -> options);
    LogHost.Call call = host.waiting(1, 500);
    host.advance(499);
    assertEquals(0, call.answers);
    host.advance(2);
    assertEquals(List.of(), call.answer());
    assertEquals(0, host.state().waiting());
  }

  @Test
  void shouldEndCanceledCallWithNothing() {
    host.create(options -> options);
    LogHost.Call call = host.waiting(1, 500);
    Objects.requireNonNull(call.waiting).cancel();
    assertEquals(List.of(), call.answer());
    host.enqueue("a");
    assertEquals(1, call.answers);
    assertEquals(1, host.state().tasks().ready());
  }

  @Test
  void shouldGiveBackWhatACanceledCallWasTakingWithoutCounting() {
    host.create(options -> options);
    host.enqueue("a");
    host.diskHeld = true;
    LogHost.Call call = host.waiting(1, 500);
    Objects.requireNonNull(call.waiting).cancel();
    host.diskHeld = false;
    host.flush();
    host.settle();
    assertEquals(List.of(), call.answer());
    LeasedTask task = host.receiveOne();
    assertEquals(1, task.token().attempt());
  }

  @Test
  void shouldEndTaskWhenItIsCompleted() {
    host.create(options -> options);
    host.enqueue("a");
    LeasedTask task = host.receiveOne();
    host.complete(task);
    QueueState state = host.state();
    assertEquals(1, state.tasks().done());
    assertEquals(0, state.tasks().leased());
    assertEquals(1, state.tasks().enqueued());
    EngineException again = assertThrows(EngineException.class, () -> host.complete(task));
    assertEquals(ErrorCode.LEASE_LOST, again.code());
  }

  @Test
  void shouldReturnTaskWhenItsLeaseEnds() {
    host.create(options -> options.leaseMillis(1000));
    host.enqueue("a");
    LeasedTask first = host.receiveOne();
    host.advance(999);
    assertEquals(List.of(), host.receive(1));
    host.advance(2);
    LeasedTask second = host.receiveOne();
    assertEquals(2, second.token().attempt());
    assertEquals(
        ErrorCode.LEASE_LOST,
        assertThrows(EngineException.class, () -> host.complete(first)).code());
    host.complete(second);
  }

  @Test
  void shouldWakeWaiterWhenALeaseEnds() {
    host.create(options -> options.leaseMillis(1000));
    host.enqueue("a");
    host.receiveOne();
    LogHost.Call call = host.waiting(1, 20_000);
    host.advance(1001);
    assertEquals("a", LogHost.text(call.answer().getFirst()));
  }

  @Test
  void shouldExtendLease() {
    host.create(options -> options.leaseMillis(1000));
    host.enqueue("a");
    LeasedTask task = host.receiveOne();
    host.advance(900);
    assertEquals(host.wall + 1000, host.queues.extend(task.token(), 0));
    host.advance(900);
    assertEquals(List.of(), host.receive(1));
    host.complete(task);
    assertThrows(EngineException.class, () -> host.queues.extend(task.token(), 0));
  }

  @Test
  void shouldReturnTasksOfAHolderThatHasGoneAtOnce() {
    host.create(options -> options);
    host.enqueue("a");
    Holder holder = new Holder();
    LogHost.Call call = host.call(LogHost.QUEUE, 0, 1, 0, holder, List.of());
    LogHost.Call waiting = host.call(LogHost.QUEUE, 0, 1, 1000, holder, List.of());
    assertEquals(1, call.answer().size());
    host.queues.endHolder(holder);
    assertEquals(List.of(), waiting.answer());
    assertEquals(2, host.receiveOne().token().attempt());
  }

  @Test
  void shouldTellHolderThatItsLeaseHasEnded() {
    host.create(options -> options.leaseMillis(100));
    host.enqueue("a");
    Holder holder = new Holder();
    host.call(LogHost.QUEUE, 0, 1, 0, holder, List.of());
    host.advance(101);
    assertEquals(1, holder.lost.size());
  }

  @Test
  void shouldFailWithBackoffThenDie() {
    host.create(options -> options.maxAttempts(2).backoff(1000, 10_000, 3));
    host.enqueue("a");
    host.fail(host.receiveOne(), -1);
    assertEquals(1, host.state().tasks().delayed());
    host.advance(999);
    assertEquals(List.of(), host.receive(1));
    host.advance(1);
    LeasedTask task = host.receiveOne();
    assertEquals("no", task.lastError());
    host.fail(task, -1);
    assertEquals(1, host.state().tasks().dead());
    host.advance(100_000);
    assertEquals(List.of(), host.receive(1));
  }

  @Test
  void shouldMoveDeadTaskToItsQueue() {
    host.create(8, options -> options);
    host.create(options -> options.maxAttempts(1).deadLetter(8));
    long id = host.enqueue("a");
    host.fail(host.receiveOne(), -1);
    assertEquals(0, host.state().tasks().dead());
    LeasedTask dead = host.call(8, 0, 1, 0, LeaseHolder.TIME, List.of()).answer().getFirst();
    assertEquals(id, dead.taskId());
    assertEquals("no", dead.lastError());
  }

  /// Also from the log, and from the state that was written.
  @Test
  void shouldCountDeadLettersAsSuch() {
    host.create(8, options -> options);
    host.create(options -> options.maxAttempts(1).deadLetter(8));
    host.enqueue("a");
    long canceled = host.enqueue("b");
    host.enqueue("c");
    host.fail(host.receiveOne(), -1);
    host.commit(changes -> assertTrue(changes.cancel(LogHost.QUEUE, canceled)));
    for (int each = 0; each < 3; each++) {
      assertEquals(1, host.state().tasks().deadLetters());
      assertEquals(1, host.state().tasks().canceled());
      assertEquals(0, host.state().tasks().dead());
      assertEquals(1, host.state().tasks().ready());
      assertEquals(List.of(), host.problems());
      if (each == 1) {
        host.queues.force();
      }
      host = host.crash();
    }
    host.commit(changes -> changes.purge(LogHost.QUEUE, false));
    assertEquals(1, host.state().tasks().deadLetters());
    assertEquals(2, host.state().tasks().canceled());
  }

  @Test
  void shouldReleaseWithoutCounting() {
    host.create(options -> options.maxAttempts(1));
    host.enqueue("a");
    for (int each = 0; each < 3; each++) {
      LeasedTask task = host.receiveOne();
      assertEquals(1, task.token().attempt());
      host.commit(changes -> changes.release(task.token()));
    }
  }

  @Test
  void shouldUndoWhatIsRolledBack() {
    host.create(options -> options);
    host.enqueue("a");
    LeasedTask task = host.receiveOne();
    var changes = host.queues.newChanges();
    changes.enqueue(LogHost.QUEUE, LogHost.task("b"));
    changes.complete(task.token());
    changes.prepareCommit();
    changes.ended(false);
    host.settle();
    assertEquals(1, host.state().tasks().leased());
    assertEquals(1, host.state().tasks().enqueued());
    host.complete(task);
  }

  @Test
  void shouldUndoToSavepoint() {
    host.create(options -> options);
    host.commit(changes -> {
      changes.enqueue(LogHost.QUEUE, LogHost.task("a"));
      long mark = changes.mark();
      changes.enqueue(LogHost.QUEUE, LogHost.task("b"));
      changes.rollbackTo(mark);
      changes.enqueue(LogHost.QUEUE, LogHost.task("c"));
    });
    assertEquals(List.of("a", "c"), host.receiveTexts(10));
  }

  @Test
  void shouldCompleteAndReceiveWithOneRecord() {
    host.create(options -> options);
    host.enqueue("a");
    host.enqueue("b");
    LeasedTask task = host.receiveOne();
    int before = host.ownRecords;
    LogHost.Call call = host.call(LogHost.QUEUE, 0, 1, 0, LeaseHolder.TIME, List.of(task.token()));
    assertEquals("b", LogHost.text(call.answer().getFirst()));
    assertEquals(1, host.ownRecords - before);
    assertEquals(1, host.state().tasks().done());
    LogHost.Call stale = host.call(LogHost.QUEUE, 0, 1, 0, LeaseHolder.TIME, List.of(task.token()));
    assertEquals(ErrorCode.LEASE_LOST, assertThrows(EngineException.class, stale::answer).code());
  }

  @Test
  void shouldCompleteWhenThereIsNothingToReceive() {
    host.create(options -> options);
    host.enqueue("a");
    LeasedTask task = host.receiveOne();
    LogHost.Call call = host.call(LogHost.QUEUE, 0, 1, 0, LeaseHolder.TIME, List.of(task.token()));
    assertEquals(List.of(), call.answer());
    assertEquals(1, host.state().tasks().done());
  }

  @Test
  void shouldCountAttemptsAcrossCrash() {
    host.create(options -> options);
    host.enqueue("a");
    host.enqueue("b");
    LeasedTask first = host.receiveOne();
    host = host.crash();
    LeasedTask again = host.receiveOne();
    assertEquals("a", LogHost.text(again));
    assertEquals(2, again.token().attempt());
    assertEquals(
        ErrorCode.LEASE_LOST,
        assertThrows(EngineException.class, () -> host.complete(first)).code());
    host.complete(again);
    host.queues.force();
    host = host.crash();
    assertEquals(List.of("b"), host.receiveTexts(10));
  }

  @Test
  void shouldBuryPoisonAfterCrashes() {
    host.create(options -> options.maxAttempts(3));
    host.enqueue("poison");
    for (int each = 0; each < 3; each++) {
      host.receiveOne();
      host = host.crash();
    }
    assertEquals(List.of(), host.receive(1));
    assertEquals(1, host.state().tasks().dead());
    host = host.crash();
    assertEquals(1, host.state().tasks().dead());
  }

  @Test
  void shouldFreeSegmentsThatAreDone() {
    host.create(options -> options);
    for (int each = 0; each < 1000; each++) {
      host.enqueue("task " + each);
      host.complete(host.receiveOne());
    }
    host.queues.force();
    QueueState state = host.state();
    assertEquals(1000, state.tasks().done());
    assertTrue(state.fileBytes() < 1000, () -> "" + state);
  }

  @Test
  void shouldNotNeedAlarmsWhenIdle() {
    host.create(options -> options);
    host.enqueue("a");
    host.complete(host.receiveOne());
    host.advance(60_000);
    assertEquals(0, host.alarmCount());
  }

  @Test
  void shouldRefuseToReceiveFromWhatIsNotThere() {
    LogHost.Call call = host.waiting(1, 0);
    assertNull(call.tasks);
    assertEquals(
        ErrorCode.UNDEFINED_OBJECT, assertThrows(EngineException.class, call::answer).code());
  }

  /// A session.
  private static final class Holder implements LeaseHolder {
    final List<LeaseToken> lost = new ArrayList<>();

    @Override
    public String name() {
      return "test";
    }

    @Override
    public void lost(LeaseToken token) {
      lost.add(token);
    }
  }
}
