package dev.kakehashi.queue;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.engine.api.queue.LeaseHolder;
import dev.kakehashi.engine.api.queue.LeasedTask;
import dev.kakehashi.engine.api.queue.NewTask;
import dev.kakehashi.engine.api.queue.QueueChanges;
import dev.kakehashi.engine.api.queue.QueueDefinition;
import dev.kakehashi.engine.api.queue.TaskView;
import dev.kakehashi.protocol.ErrorCode;
import dev.kakehashi.queue.order.TaskEntry;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// Cancel, purge, move, groups, unique keys, schedules, prepared transactions: each also through a crash.
class QueueOperationsTest {
  @TempDir Path directory;
  private LogHost host;

  @BeforeEach
  void open() {
    host = new LogHost(directory).start();
  }

  @AfterEach
  void shouldConserveCountsThroughACrash() {
    assertEquals(List.of(), host.problems());
    host = host.crash();
    assertEquals(List.of(), host.problems());
    host.queues.force();
    host = host.crash();
    assertEquals(List.of(), host.problems());
    host.queues.close();
  }

  @Test
  void shouldCancelWhatIsNotLent() {
    host.create(options -> options);
    host.enqueue("a");
    long b = host.enqueue("b");
    long c = host.enqueue("c");
    boolean[] canceled = new boolean[3];
    host.commit(changes -> canceled[0] = changes.cancel(LogHost.QUEUE, b));
    assertTrue(canceled[0]);
    host.commit(changes -> canceled[1] = changes.cancel(LogHost.QUEUE, b));
    assertFalse(canceled[1]);
    assertEquals(List.of("a", "c"), host.receiveTexts(10));
    host.commit(changes -> canceled[2] = changes.cancel(LogHost.QUEUE, c));
    assertFalse(canceled[2]);
    assertEquals(1, host.state().tasks().canceled());
  }

  @Test
  void shouldHandOutWhatWasCanceledByARolledBackTransaction() {
    host.create(options -> options);
    long a = host.enqueue("a");
    long b = host.enqueue("b");
    QueueChanges changes = host.queues.newChanges();
    assertTrue(changes.cancel(LogHost.QUEUE, a));
    long mark = changes.mark();
    assertTrue(changes.cancel(LogHost.QUEUE, b));
    changes.rollbackTo(mark);
    assertEquals(List.of("b"), host.receiveTexts(10));
    changes.ended(false);
    host.settle();
    assertEquals(List.of("a"), host.receiveTexts(10));
  }

  @Test
  void shouldPurgeAllButWhatIsLent() {
    host.create(options -> options);
    for (int each = 0; each < 10; each++) {
      host.enqueue(LogHost.keyed("t" + each, each % 2 == 0 ? "k" : null));
    }
    LeasedTask lent = host.receiveOne();
    host.commit(changes -> changes.purge(LogHost.QUEUE, false));
    assertEquals(List.of(), host.receive(10));
    assertEquals(9, host.state().tasks().canceled());
    host.enqueue("after");
    assertEquals(List.of("after"), host.receiveTexts(10));
    host.commit(changes -> changes.release(lent.token()));
    assertEquals(List.of("t0"), host.receiveTexts(10));
  }

  @Test
  void shouldPurgeDeadTasksAlone() {
    host.create(options -> options.maxAttempts(1));
    host.enqueue("a");
    host.enqueue("b");
    host.fail(host.receiveOne(), -1);
    host.commit(changes -> changes.purge(LogHost.QUEUE, true));
    assertEquals(0, host.state().tasks().dead());
    assertEquals(1, host.state().tasks().canceled());
    assertEquals(List.of("b"), host.receiveTexts(10));
  }

  @Test
  void shouldMoveTasksInOrder() {
    host.create(options -> options.maxAttempts(1));
    host.create(8, options -> options);
    for (int each = 0; each < 5; each++) {
      host.enqueue("t" + each);
    }
    host.fail(host.receiveOne(), -1);
    long[] moved = new long[2];
    host.commit(changes -> moved[0] = changes.move(LogHost.QUEUE, 8, false, 3, null, -1));
    host.commit(changes -> moved[1] = changes.move(LogHost.QUEUE, 8, true, 100, null, -1));
    assertEquals(3, moved[0]);
    assertEquals(1, moved[1]);
    assertEquals(
        List.of("t1", "t2", "t3", "t0"),
        host.call(8, 0, 10, 0, LeaseHolder.TIME, List.of()).answer().stream()
            .map(LogHost::text)
            .toList());
    assertEquals(List.of("t4"), host.receiveTexts(10));
  }

  @Test
  void shouldReplayDeadLettersAtARate() {
    host.create(options -> options.maxAttempts(1));
    for (int each = 0; each < 5; each++) {
      host.enqueue("t" + each);
    }
    host.receive(5).forEach(each -> host.fail(each, -1));
    assertEquals(5, host.state().tasks().dead());
    host.commit(
        changes -> assertEquals(5, changes.move(LogHost.QUEUE, LogHost.QUEUE, true, 100, null, 2)));
    host.advance(1);
    assertEquals(List.of("t0"), host.receiveTexts(10));
    host = host.crash(); // a second
    assertEquals(List.of("t1", "t2"), host.receiveTexts(10));
    host.advance(500);
    assertEquals(List.of("t3"), host.receiveTexts(10));
    host.advance(500);
    assertEquals(List.of("t4"), host.receiveTexts(10));
    assertEquals(0, host.state().tasks().ready() + host.state().tasks().delayed());
  }

  @Test
  void shouldReplayTheDeadLettersOfOneError() {
    host.create(options -> options.maxAttempts(1));
    for (int each = 0; each < 6; each++) {
      host.enqueue("t" + each);
    }
    int[] number = {0};
    host.receive(6)
        .forEach(each ->
            host.commit(
                changes -> changes.fail(each.token(), number[0]++ % 2 == 0 ? "even" : "odd", -1)));
    host = host.crash();
    host.commit(changes ->
        assertEquals(
            0, changes.move(LogHost.QUEUE, LogHost.QUEUE, true, 100, "eve", -1), "a beginning"));
    host.commit(
        changes -> assertEquals(2, changes.move(LogHost.QUEUE, LogHost.QUEUE, true, 2, "odd", -1)));
    assertEquals(List.of("t1", "t3"), host.receiveTexts(10));
    assertEquals(4, host.state().tasks().dead());
    host.commit(changes ->
        assertEquals(3, changes.move(LogHost.QUEUE, LogHost.QUEUE, true, 100, "even", -1)));
    assertEquals(List.of("t0", "t2", "t4"), host.receiveTexts(10));
    assertEquals(List.of(), host.problems());
  }

  @Test
  void shouldRefuseToMoveMoreThanItsMemoryAllows() {
    host.create(options -> options);
    host.create(8, options -> options);
    NewTask task = LogHost.task("x");
    host.commit(changes -> {
      for (int each = 0; each <= QueueChanges.MOST_MOVED; each++) {
        changes.enqueue(LogHost.QUEUE, task);
      }
    });
    EngineException refused =
        assertThrows(
            EngineException.class,
            () -> host.commit(changes -> changes.move(LogHost.QUEUE, 8, false, 1 << 30, null, -1)));
    assertEquals(ErrorCode.LIMIT_EXCEEDED, refused.code());
    assertEquals(List.of(), host.problems());
    assertEquals(QueueChanges.MOST_MOVED + 1, host.state().tasks().ready());
    host.commit(changes -> assertEquals(10, changes.move(LogHost.QUEUE, 8, false, 10, null, -1)));
    assertEquals(1, host.receive(1).size());
  }

  @Test
  void shouldNotDropWhatAnotherTransactionAddsTo() {
    host.create(options -> options);
    QueueChanges adds = host.queues.newChanges();
    adds.enqueue(LogHost.QUEUE, LogHost.task("a"));
    QueueChanges drops = host.queues.newChanges();
    EngineException used =
        assertThrows(EngineException.class, () -> drops.dropQueue(LogHost.QUEUE));
    assertEquals(ErrorCode.OBJECT_IN_USE, used.code());
    host.put(adds);
    drops.dropQueue(LogHost.QUEUE);
    QueueChanges late = host.queues.newChanges();
    assertThrows(EngineException.class, () -> late.enqueue(LogHost.QUEUE, LogHost.task("b")));
    late.ended(false);
    drops.ended(false);
    host.enqueue("c");
    assertEquals(List.of("a", "c"), host.receiveTexts(5));
  }

  @Test
  void shouldShowEachGroupEachTask() {
    host.create(options -> options);
    host.enqueue("before");
    group(1, false);
    host.enqueue("a");
    group(2, true);
    host.enqueue("b");
    assertEquals(List.of("a", "b"), texts(host.receive(1, 10)));
    assertEquals(List.of("a", "b"), texts(host.receive(2, 10)));
    assertEquals(List.of("before"), texts(host.receive(0, 10)));
    assertEquals(2, host.state(LogHost.QUEUE, 1).tasks().leased());
  }

  private static List<String> texts(List<LeasedTask> tasks) {
    return tasks.stream().map(LogHost::text).toList();
  }

  private void group(long groupId, boolean first) {
    List<QueueDefinition.Group> groups = new ArrayList<>(host.definitions.getFirst().groups());
    groups.add(new QueueDefinition.Group(groupId, "g" + groupId));
    host.define(LogHost.QUEUE, options -> options, groups);
    host.commit(changes -> changes.createGroup(LogHost.QUEUE, groupId, first));
  }

  @Test
  void shouldFreeFilesWhenAllGroupsArePastThem() {
    host.create(options -> options);
    group(1, true);
    group(2, true);
    for (int each = 0; each < 50; each++) {
      host.enqueue("t" + each);
    }
    host.queues.force();
    for (LeasedTask each : host.receive(1, 50)) {
      host.complete(each);
    }
    assertTrue(host.state(LogHost.QUEUE, 1).fileBytes() > 1000);
    for (LeasedTask each : host.receive(2, 50)) {
      host.complete(each);
    }
    assertEquals(0, host.state(LogHost.QUEUE, 1).fileBytes());
  }

  @Test
  void shouldFreeFilesWhenAGroupThatNobodyReadsIsDropped() {
    host.create(options -> options);
    group(1, true);
    group(2, true);
    for (int each = 0; each < 50; each++) {
      host.enqueue(LogHost.keyed("t" + each, "k" + each % 3));
    }
    for (LeasedTask each : host.receive(1, 50)) {
      host.complete(each);
    }
    host.commit(changes -> changes.dropGroup(LogHost.QUEUE, 2));
    assertEquals(0, host.state(LogHost.QUEUE, 1).fileBytes());
  }

  private static NewTask unique(String key, long window) {
    return new NewTask(LogHost.payload(key), null, null, NewTask.DEFAULT_PRIORITY, 0, key, window);
  }

  @Test
  void shouldMakeATaskOfAUniqueKeyOnce() {
    host.create(options -> options);
    long first = host.enqueue(unique("u", 0));
    assertEquals(first, host.enqueue(unique("u", 0)));
    host = host.crash();
    assertEquals(first, host.enqueue(unique("u", 0)));
    assertEquals(1, host.state().tasks().enqueued());
    host.complete(host.receiveOne());
    assertNotEquals(first, host.enqueue(unique("u", 0)));
  }

  @Test
  void shouldKeepTheWindowOfAUniqueKeyAfterItsTask() {
    host.create(options -> options);
    long first = host.enqueue(unique("u", 10_000));
    host.complete(host.receiveOne());
    host.queues.force();
    host = host.crash();
    assertEquals(first, host.enqueue(unique("u", 10_000)));
    host.advance(9_001);
    assertNotEquals(first, host.enqueue(unique("u", 10_000)));
  }

  @Test
  void shouldRefuseAUniqueKeyOfATransactionThatHasNotEnded() {
    host.create(options -> options);
    QueueChanges changes = host.queues.newChanges();
    long own = changes.enqueue(LogHost.QUEUE, unique("u", 0));
    assertEquals(own, changes.enqueue(LogHost.QUEUE, unique("u", 0)));
    EngineException refused =
        assertThrows(EngineException.class, () -> host.enqueue(unique("u", 0)));
    assertEquals(ErrorCode.SERIALIZATION_FAILURE, refused.code());
    changes.ended(false);
    assertNotEquals(own, host.enqueue(unique("u", 0)));
  }

  @Test
  void shouldKeepPreparedChangesThroughCrash() {
    host.create(options -> options);
    host.enqueue("a");
    host.enqueue("b");
    LeasedTask a = host.receiveOne();
    QueueChanges changes = host.queues.newChanges();
    changes.complete(a.token());
    changes.enqueue(LogHost.QUEUE, unique("c", 0));
    changes.prepareCommit();
    byte[] prepared = new byte[changes.encodedBytes()];
    changes.encode(prepared, 0);
    for (boolean commit : new boolean[] {false, true}) {
      LogHost next = new LogHost(directory, new ArrayList<>(host.log));
      next.definitions = host.definitions;
      QueueChanges again = next.queues.recovered(prepared, 0, prepared.length);
      next.start();
      assertEquals(List.of("b"), next.receiveTexts(10));
      assertThrows(EngineException.class, () -> next.enqueue(unique("c", 0)));
      if (commit) {
        next.put(again);
        assertEquals(1, next.state().tasks().done());
        assertEquals(List.of("c"), next.receiveTexts(10));
      } else {
        again.ended(false);
        next.settle();
        assertEquals(List.of("a"), next.receiveTexts(10));
      }
      assertEquals(List.of(), next.problems());
    }
  }

  @Test
  void shouldSayOfAnAttemptThatItsLeaseEnded() {
    host.create(options -> options.leaseMillis(1_000).maxAttempts(5));
    host.enqueue("a");
    host.receiveOne();
    host.advance(1_001);
    LeasedTask second = host.receiveOne();
    assertEquals(TaskEntry.LEASE_ENDED, second.lastError());
    host.fail(second, 0);
    assertEquals("no", host.receiveOne().lastError());
    // A task that was lent when the process ended, from the log and from the files.
    host = host.crash();
    assertEquals(TaskEntry.LEASE_ENDED, host.receiveOne().lastError());
    host.queues.force();
    host = host.crash();
    LeasedTask last = host.receiveOne();
    assertEquals(TaskEntry.LEASE_ENDED, last.lastError());
    assertEquals(5, last.token().attempt());
  }

  @Test
  void shouldEndATaskForGood() {
    host.create(options -> options);
    host.enqueue("a");
    LeasedTask task = host.receiveOne();
    host.commit(changes -> changes.failForGood(task.token(), "wrong"));
    assertEquals(1, host.state().tasks().dead());
  }

  @Test
  void shouldMakeTasksOfASchedule() {
    host.create(options -> options);
    host.define(
        LogHost.QUEUE,
        options -> options,
        List.of(),
        Map.of(),
        List.of(new QueueDefinition.Schedule("s", "* * * * *", "UTC", LogHost.payload("tick"))));
    host.advance(180_000);
    assertEquals(3, host.receive(10).size());
    // Clocks that go back fire nothing twice; clocks that jump forward fire once.
    host.wall -= 120_000;
    host.advance(119_000);
    assertEquals(3, host.state().tasks().enqueued());
    host.wall += 3_600_000;
    host.advance(31_000);
    assertEquals(4, host.state().tasks().enqueued());
    host.queues.force();
    host = host.crash();
    assertEquals(4, host.state().tasks().enqueued());
    host.wall += 600_000;
    host = host.crash();
    assertEquals(5, host.state().tasks().enqueued());
  }

  @Test
  void shouldShowTasksAndLeases() {
    host.create(options -> options.maxAttempts(1));
    host.enqueue("dead");
    host.enqueue("lent");
    host.enqueue(LogHost.keyed("ready", "k"));
    host.enqueue(
        new NewTask(LogHost.payload("later"), null, null, 4, host.wall + 100_000, null, 0));
    host.fail(host.receiveOne(), -1);
    host.receiveOne();
    List<TaskView.State> states = new ArrayList<>();
    host.queues.tasks(LogHost.QUEUE, view -> states.add(view.state()));
    assertEquals(
        List.of(
            TaskView.State.DEAD,
            TaskView.State.LEASED,
            TaskView.State.READY,
            TaskView.State.DELAYED),
        states);
    List<String> holders = new ArrayList<>();
    host.queues.leases(view -> holders.add(Objects.requireNonNull(view.lease()).holder()));
    assertEquals(List.of("time"), holders);
  }

  @Test
  void shouldLoseLeasesAndEndCallsOfADroppedQueue() {
    host.create(options -> options);
    host.enqueue("a");
    LeasedTask task = host.receiveOne();
    LogHost.Call call = host.waiting(1, 10_000);
    host.commit(changes -> changes.dropQueue(LogHost.QUEUE));
    assertEquals(List.of(), call.answer());
    assertThrows(EngineException.class, () -> host.complete(task));
    assertNull(host.queues.queueOf(task.token()));
    host.queues.force();
  }

  @Test
  void shouldRestoreFromHeldFilesAndTheLog() throws Exception {
    host.create(options -> options);
    for (int each = 0; each < 20; each++) {
      host.enqueue("t" + each);
    }
    host.complete(host.receiveOne());
    host.queues.force();
    List<Path> files = host.queues.holdFiles();
    host.complete(host.receiveOne());
    host.enqueue("late");
    host.queues.force();
    for (LeasedTask each : host.receive(100)) {
      host.complete(each);
    }
    host.queues.force();
    Path copy = directory.resolveSibling(directory.getFileName() + "-copy");
    for (Path each : files) {
      Path to = copy.resolve(each);
      java.nio.file.Files.createDirectories(to.getParent());
      java.nio.file.Files.copy(directory.resolve(each), to);
    }
    host.queues.releaseFiles();
    // The log up to the 23rd record, over files of a later moment.
    LogHost restored = new LogHost(copy, new ArrayList<>(host.log.subList(0, 25)));
    restored.definitions = host.definitions;
    restored.start();
    assertEquals(List.of(), restored.problems());
    assertEquals(2, restored.state().tasks().done());
    assertEquals("t2", LogHost.text(restored.receiveOne()));
    restored.queues.close();
  }
}
