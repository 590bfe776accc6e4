package dev.kakehashi.queue;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.engine.api.queue.LeaseHolder;
import dev.kakehashi.engine.api.queue.LeasedTask;
import dev.kakehashi.engine.api.queue.NewTask;
import dev.kakehashi.engine.api.queue.QueueChanges;
import dev.kakehashi.engine.api.queue.QueueDefinition;
import dev.kakehashi.protocol.ErrorCode;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// Which task has a unique key: in each state of the task, and while a transaction that ends it is open.
class UniqueKeysTest {
  private static final long OTHER = 8;

  @TempDir Path directory;
  private LogHost host;

  @BeforeEach
  void open() {
    host = new LogHost(directory).start();
    host.create(options -> options.maxAttempts(1));
    host.create(OTHER, options -> options);
  }

  @AfterEach
  void close() {
    assertEquals(List.of(), host.problems());
    host = host.crash();
    assertEquals(List.of(), host.problems());
    host.queues.close();
  }

  private static NewTask unique(String key) {
    return new NewTask(LogHost.payload(key), null, null, NewTask.DEFAULT_PRIORITY, 0, key, 0);
  }

  private void assertWaits() {
    EngineException refused = assertThrows(EngineException.class, () -> host.enqueue(unique("u")));
    assertEquals(ErrorCode.SERIALIZATION_FAILURE, refused.code());
  }

  /// A task of the key is there, and a transaction ends it: what itself and others are told.
  private void check(boolean lent, EndOfTask end) {
    for (boolean commit : new boolean[] {false, true}) {
      for (boolean again : new boolean[] {false, true}) {
        long old = host.enqueue(unique("u"));
        LeasedTask task = lent ? host.receiveOne() : null;
        QueueChanges changes = host.queues.newChanges();
        long mark = changes.mark();
        end.run(changes, old, task);
        assertWaits();
        changes.rollbackTo(mark);
        assertEquals(old, host.enqueue(unique("u")));
        end.run(changes, old, task);
        long made = again ? changes.enqueue(LogHost.QUEUE, unique("u")) : old;
        if (again) {
          assertNotEquals(old, made);
          assertEquals(made, changes.enqueue(LogHost.QUEUE, unique("u")));
        }
        assertWaits();
        // Files that are forced meanwhile have the key of the old task.
        host.queues.force();
        if (commit) {
          host.put(changes);
          long next = host.enqueue(unique("u"));
          assertNotEquals(old, next);
          if (again) {
            assertEquals(made, next);
          }
        } else {
          changes.ended(false);
          host.settle();
          assertEquals(old, host.enqueue(unique("u")));
        }
        host = host.crash();
        // One task of the key, but for a lent one whose only attempt the crash has ended.
        assertEquals(commit || !lent ? 1 : 0, host.receive(10).size());
        host = host.crash();
        host.commit(all -> all.purge(LogHost.QUEUE, false));
        host.commit(all -> all.purge(OTHER, false));
      }
    }
  }

  private interface EndOfTask {
    void run(QueueChanges changes, long taskId, @Nullable LeasedTask task);
  }

  @Test
  void shouldFreeItWithACompletion() {
    check(true, (changes, _, task) -> changes.complete(Objects.requireNonNull(task).token()));
  }

  @Test
  void shouldFreeItWithTheLastFailure() {
    check(true, (changes, _, task) -> changes.fail(Objects.requireNonNull(task).token(), "no", -1));
  }

  @Test
  void shouldFreeItWithACancel() {
    check(false, (changes, id, _) -> assertTrue(changes.cancel(LogHost.QUEUE, id)));
  }

  @Test
  void shouldFreeItWithAPurge() {
    check(false, (changes, _, _) -> changes.purge(LogHost.QUEUE, false));
  }

  @Test
  void shouldFreeItWithAMove() {
    check(
        false,
        (changes, _, _) -> assertEquals(1, changes.move(LogHost.QUEUE, OTHER, false, 10, null, 0)));
  }

  @Test
  void shouldKeepItWhileItsTaskComesAgain() {
    host.define(LogHost.QUEUE, options -> options.maxAttempts(3), List.of());
    long old = host.enqueue(unique("u"));
    LeasedTask task = host.receiveOne();
    QueueChanges changes = host.queues.newChanges();
    changes.fail(task.token(), "no", 5_000);
    assertEquals(old, changes.enqueue(LogHost.QUEUE, unique("u")));
    assertEquals(old, host.enqueue(unique("u")));
    host.put(changes);
    assertEquals(old, host.enqueue(unique("u")));
    host.advance(6_000);
    LeasedTask second = host.receiveOne();
    host.commit(all -> all.release(second.token()));
    assertEquals(old, host.enqueue(unique("u")));
  }

  @Test
  void shouldNotWaitForATransactionWhoseLeaseHasPassed() {
    host.define(LogHost.QUEUE, options -> options.maxAttempts(3), List.of());
    long old = host.enqueue(unique("u"));
    QueueChanges changes = host.queues.newChanges();
    changes.complete(host.receiveOne().token());
    assertWaits();
    host.advance(60_000);
    assertEquals(old, host.enqueue(unique("u")));
    assertThrows(EngineException.class, changes::prepareCommit);
    changes.ended(false);
  }

  @Test
  void shouldRefuseACommitWhoseOldTaskWasHandedOutMeanwhile() {
    long old = host.enqueue(unique("u"));
    QueueChanges changes = host.queues.newChanges();
    changes.purge(LogHost.QUEUE, false);
    assertNotEquals(old, changes.enqueue(LogHost.QUEUE, unique("u")));
    LeasedTask task = host.receiveOne();
    assertEquals(
        ErrorCode.SERIALIZATION_FAILURE,
        assertThrows(EngineException.class, changes::prepareCommit).code());
    changes.ended(false);
    assertEquals(old, host.enqueue(unique("u")));
    // A lent task is spared, and keeps its key.
    host.commit(all -> all.purge(LogHost.QUEUE, false));
    assertEquals(old, host.enqueue(unique("u")));
    host.complete(task);
    assertNotEquals(old, host.enqueue(unique("u")));
  }

  @Test
  void shouldMakeATaskAfterItsOwnWasPurged() {
    long[] made = new long[2];
    host.commit(changes -> {
      made[0] = changes.enqueue(LogHost.QUEUE, unique("u"));
      changes.purge(LogHost.QUEUE, false);
      made[1] = changes.enqueue(LogHost.QUEUE, unique("u"));
    });
    assertNotEquals(made[0], made[1]);
    assertEquals(made[1], host.receiveOne().taskId());
    assertEquals(List.of(), host.receive(10));
  }

  @Test
  void shouldWaitForAPreparedTransactionThroughACrash() {
    List<Consumer<QueueChanges>> ends = new ArrayList<>();
    long old = host.enqueue(unique("u"));
    ends.add(changes -> changes.cancel(LogHost.QUEUE, old));
    ends.add(changes -> changes.purge(LogHost.QUEUE, false));
    for (Consumer<QueueChanges> end : ends) {
      QueueChanges changes = host.queues.newChanges();
      end.accept(changes);
      changes.enqueue(LogHost.QUEUE, unique("u"));
      changes.prepareCommit();
      byte[] prepared = new byte[changes.encodedBytes()];
      changes.encode(prepared, 0);
      changes.ended(false);
      host.queues.force();
      for (boolean commit : new boolean[] {false, true}) {
        LogHost next = new LogHost(directory, new ArrayList<>(host.log));
        next.definitions = host.definitions;
        QueueChanges again = next.queues.recovered(prepared, 0, prepared.length);
        next.start();
        assertThrows(EngineException.class, () -> next.enqueue(unique("u")));
        if (commit) {
          next.put(again);
          assertNotEquals(old, next.enqueue(unique("u")));
          assertEquals(1, next.receive(10).size());
        } else {
          again.ended(false);
          next.settle();
          assertEquals(old, next.enqueue(unique("u")));
        }
        assertEquals(List.of(), next.problems());
      }
    }
  }

  @Test
  void shouldTakeItAlongWithAMove() {
    long moved = host.enqueue(unique("u"));
    host.commit(all -> assertEquals(1, all.move(LogHost.QUEUE, OTHER, false, 10, null, 0)));
    long[] there = new long[1];
    host.commit(all -> there[0] = all.enqueue(OTHER, unique("u")));
    assertEquals(moved, there[0]);
    long second = host.enqueue(unique("u"));
    assertNotEquals(moved, second);
    // The key is the other's there: the task stays, and can be received.
    host.enqueue(unique("v"));
    host.commit(all -> assertEquals(1, all.move(LogHost.QUEUE, OTHER, false, 1, null, 0)));
    host = host.crash();
    assertEquals(second, host.enqueue(unique("u")));
    assertEquals(second, host.receiveOne().taskId());
    assertEquals(
        List.of("u", "v"),
        host.call(OTHER, 0, 10, 0, LeaseHolder.TIME, List.of()).answer().stream()
            .map(LogHost::text)
            .toList());
  }

  @Test
  void shouldFreeItForTheDead() {
    long first = host.enqueue(unique("u"));
    host.fail(host.receiveOne(), -1);
    long second = host.enqueue(unique("u"));
    assertNotEquals(first, second);
    // The dead one does not come back beside the other.
    host.commit(all -> assertEquals(0, all.move(LogHost.QUEUE, LogHost.QUEUE, true, 9, null, 0)));
    host.complete(host.receiveOne());
    host.commit(all -> assertEquals(1, all.move(LogHost.QUEUE, LogHost.QUEUE, true, 9, null, 0)));
    assertEquals(first, host.enqueue(unique("u")));
    boolean[] canceled = new boolean[1];
    host.commit(all -> canceled[0] = all.cancel(LogHost.QUEUE, first));
    assertTrue(canceled[0]);
    assertNotEquals(first, host.enqueue(unique("u")));
  }

  @Test
  void shouldNotHoldItInAQueueForDeadLetters() {
    host.define(LogHost.QUEUE, options -> options.maxAttempts(1).deadLetter(OTHER), List.of());
    long first = host.enqueue(unique("u"));
    host.fail(host.receiveOne(), -1);
    long second = host.enqueue(unique("u"));
    assertNotEquals(first, second);
    host.fail(host.receiveOne(), -1);
    assertEquals(2, host.state(OTHER, 0).tasks().ready());
    // Back again it has its key; the other one stays.
    host.commit(all -> assertEquals(1, all.move(OTHER, LogHost.QUEUE, false, 9, null, 0)));
    host = host.crash();
    assertEquals(first, host.enqueue(unique("u")));
    assertEquals(1, host.state(OTHER, 0).tasks().ready());
  }

  @Test
  void shouldHoldItUntilAllGroupsAreThrough() {
    host.define(
        LogHost.QUEUE,
        options -> options,
        List.of(new QueueDefinition.Group(1, "one"), new QueueDefinition.Group(2, "two")));
    host.commit(all -> {
      all.createGroup(LogHost.QUEUE, 1, false);
      all.createGroup(LogHost.QUEUE, 2, false);
    });
    long old = host.enqueue(unique("u"));
    QueueChanges one = host.queues.newChanges();
    one.complete(host.receive(1, 1).getFirst().token());
    assertEquals(old, host.enqueue(unique("u")));
    QueueChanges two = host.queues.newChanges();
    two.dropGroup(LogHost.QUEUE, 2);
    assertWaits();
    host.put(one);
    assertWaits();
    assertNotEquals(old, two.enqueue(LogHost.QUEUE, unique("u")));
    two.ended(false);
    assertEquals(old, host.enqueue(unique("u")));
    host.commit(all -> all.dropGroup(LogHost.QUEUE, 2));
    assertNotEquals(old, host.enqueue(unique("u")));
  }
}
