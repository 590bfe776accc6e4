package dev.kakehashi.engine.store;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.engine.api.queue.LeaseHolder;
import dev.kakehashi.engine.api.queue.LeasedTask;
import dev.kakehashi.engine.store.api.Store;
import dev.kakehashi.engine.store.api.StoreTransaction;
import dev.kakehashi.protocol.ErrorCode;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/// Changes of queues are of the transaction: with its rows, or not at all, through all ends that a transaction can have.
@Timeout(120)
final class StoreQueuesTest extends StoreQueuesBase {
  // ---- one transaction ----

  @Test
  void shouldCommitTasksWithRows() {
    commitBoth(1);
    commitBoth(2);
    assertBoth("1", "2");
    reopen(home);
    assertBoth("1", "2");
  }

  @Test
  void shouldHandOutATaskOnlyWhenItsTransactionHasCommitted() {
    StoreTransaction transaction = begin();
    insertBoth(transaction, 1, "");
    assertTrue(transaction.hasWrites());
    assertBoth();
    Rows.commit(transaction);
    assertEquals("1", new String(receive().payload().bytes(), StandardCharsets.UTF_8));
  }

  @Test
  void shouldLeaveNothingOfATransactionThatIsRolledBack() {
    StoreTransaction transaction = begin();
    insertBoth(transaction, 1, "");
    transaction.abort();
    assertEquals(0, queues.notEnded());
    commitBoth(2);
    reopen(home);
    assertBoth("2");
  }

  @Test
  void shouldCommitATransactionOfTasksAlone() {
    StoreTransaction transaction = begin();
    transaction.queueChanges().enqueue(QUEUE, task("alone"));
    assertTrue(transaction.hasWrites());
    Rows.commit(transaction);
    assertEquals(List.of("alone"), tasks());
    reopen(home);
    assertEquals(List.of("alone"), tasks());
  }

  @Test
  void shouldKeepTheOrderOfCommits() {
    StoreTransaction first = begin();
    StoreTransaction second = begin();
    first.queueChanges().enqueue(QUEUE, task("a"));
    second.queueChanges().enqueue(QUEUE, task("b"));
    first.queueChanges().enqueue(QUEUE, task("c"));
    Rows.commit(second);
    Rows.commit(first);
    assertEquals(List.of("b", "a", "c"), queues.payloads(QUEUE));
  }

  @Test
  void shouldRefuseChangesOfAReadOnlyTransactionAndOfOneThatHasEnded() {
    StoreTransaction reader = store.begin(true, false);
    assertEquals(
        ErrorCode.READ_ONLY_TRANSACTION,
        assertThrows(EngineException.class, reader::queueChanges).code());
    reader.abort();
    assertEquals(
        ErrorCode.NO_SUCH_TRANSACTION,
        assertThrows(EngineException.class, reader::queueChanges).code());
  }

  @Test
  void shouldEndChangesThatCameToNothing() {
    StoreTransaction transaction = begin();
    transaction.queueChanges();
    assertFalse(transaction.hasWrites());
    Rows.commit(transaction);
    assertEquals(0, queues.notEnded());
  }

  @Test
  void shouldRefuseACommitWhoseLeaseIsLost() {
    commitBoth(1);
    LeasedTask lent = receive();
    StoreTransaction transaction = begin();
    Rows.insert(table, transaction, 2L, "effect");
    transaction.queueChanges().complete(lent.token());
    queues.endHolder(LeaseHolder.TIME);
    assertEquals(ErrorCode.LEASE_LOST, refusal(done -> transaction.commit(true, done)));
    assertBoth("1");
    // Somebody else gets it.
    StoreTransaction again = begin();
    again.queueChanges().complete(receive().token());
    Rows.commit(again);
    assertEquals(List.of(), tasks());
  }

  @Test
  void shouldCompleteWithTheEffectOrNotAtAll() {
    commitBoth(1);
    LeasedTask lent = receive();
    StoreTransaction failing = begin();
    Rows.insert(table, failing, 2L, "effect");
    failing.queueChanges().complete(lent.token());
    failing.abort();
    assertBoth("1");
    StoreTransaction transaction = begin();
    Rows.insert(table, transaction, 2L, "effect");
    transaction.queueChanges().complete(lent.token());
    Rows.commit(transaction);
    reopen(home);
    assertEquals(List.of("1", "2effect"), rows());
    assertEquals(List.of(), tasks());
  }

  @Test
  void shouldCountAttemptsThroughACrash() throws IOException {
    commitBoth(1);
    assertEquals(1, receive().token().attempt());
    reopen(crashed("crashed"));
    assertEquals(2, receive().token().attempt());
  }

  @Test
  void shouldRefuseToOrderAfterACommitThatHasReadOtherwise() {
    StoreTransaction serializable = store.begin(false, true);
    assertEquals(List.of(), Rows.scan(table, serializable.beginStatement()));
    serializable.queueChanges().enqueue(QUEUE, task("of nothing"));
    StoreTransaction other = store.begin(false, true);
    assertEquals(List.of(), Rows.scan(table, other.beginStatement()));
    insertBoth(other, 1, "");
    Rows.commit(serializable);
    // Both have seen none: one after the other they are in order, since the first has changed no
    // row.
    Rows.commit(other);
    assertEquals(List.of("1", "of nothing"), tasks());
  }

  // ---- savepoints ----

  @Test
  void shouldRollBackToMarksOfRowsTasksAndDefinitions() {
    StoreTransaction transaction = begin();
    List<Long> marks = new ArrayList<>();
    List<Integer> tasksAt = new ArrayList<>();
    List<Integer> definitionsAt = new ArrayList<>();
    int tasks = 0;
    for (int i = 0; i < 60; i++) {
      if (i % 3 != 1) {
        transaction.queueChanges().enqueue(QUEUE, task("t" + i));
        tasks++;
      }
      if (i % 4 == 1) {
        transaction.define(new Store.CatalogChange.Put("key" + i, new byte[] {1}));
      }
      if (i % 5 == 2) {
        Rows.insert(table, transaction, (long) i, "");
      }
      marks.add(transaction.mark());
      tasksAt.add(tasks);
      definitionsAt.add(transaction.definitions().size());
    }
    for (int i = 58; i >= 0; i -= 1 + i % 4) {
      transaction.rollbackTo(marks.get(i));
      assertEquals((long) tasksAt.get(i), transaction.queueChanges().mark(), "at " + i);
      assertEquals(definitionsAt.get(i), transaction.definitions().size(), "at " + i);
      assertEquals(marks.get(i), transaction.mark(), "at " + i);
      assertTrue(i == 0 || marks.get(i) >= marks.get(i - 1));
    }
    transaction.rollbackTo(0);
    assertFalse(transaction.hasWrites());
    assertEquals(0, transaction.mark());
    insertBoth(transaction, 7, "");
    Rows.commit(transaction);
    assertBoth("7");
  }

  @Test
  void shouldUndoWhatCameAfterAMarkThatWasTakenBeforeAnyTask() {
    StoreTransaction transaction = begin();
    Rows.insert(table, transaction, 1L, "");
    transaction.define(new Store.CatalogChange.Put("key", new byte[] {1}));
    long mark = transaction.mark();
    transaction.queueChanges().enqueue(QUEUE, task("undone"));
    assertTrue(transaction.mark() > mark);
    transaction.rollbackTo(mark);
    assertEquals(mark, transaction.mark());
    Rows.commit(transaction);
    assertEquals(List.of("1"), rows());
    assertEquals(List.of(), tasks());
  }

  // ---- two phases ----

  @Test
  void shouldPlaceTasksWhenAPreparedTransactionCommits() {
    StoreTransaction transaction = begin();
    insertBoth(transaction, 1, "prepared");
    succeed(done -> transaction.prepare(preparation("part"), done));
    commitBoth(2);
    assertBoth("2");
    succeed(done -> transaction.commit(true, done));
    assertEquals(List.of("2", "1prepared"), queues.payloads(QUEUE));
    reopen(home);
    assertEquals(List.of("2", "1prepared"), queues.payloads(QUEUE));
  }

  @Test
  void shouldKeepPreparedTasksThroughCrashes() throws IOException {
    StoreTransaction transaction = begin();
    insertBoth(transaction, 1, "");
    succeed(done -> transaction.prepare(preparation("one"), done));
    StoreTransaction other = begin();
    insertBoth(other, 2, "");
    succeed(done -> other.prepare(preparation("two"), done));
    Path crashed = crashed("crashed");
    transaction.rollbackPrepared(failure -> {});
    other.rollbackPrepared(failure -> {});
    reopen(crashed);
    assertEquals(2, store.prepared().size());
    assertBoth();
    for (StoreTransaction each : store.prepared()) {
      if (Objects.requireNonNull(each.preparation()).globalId().equals("one")) {
        succeed(done -> each.commit(true, done));
      } else {
        succeed(each::rollbackPrepared);
      }
    }
    assertBoth("1");
    reopen(crashed);
    assertBoth("1");
  }

  @Test
  void shouldKeepATaskFromOthersWhileItsCompletionIsPrepared() throws IOException {
    commitBoth(1);
    LeasedTask lent = receive();
    StoreTransaction transaction = begin();
    Rows.insert(table, transaction, 2L, "effect");
    transaction.queueChanges().complete(lent.token());
    succeed(done -> transaction.prepare(preparation("part"), done));
    queues.endHolder(LeaseHolder.TIME);
    commitBoth(3);
    assertEquals("3", new String(receive().payload().bytes(), StandardCharsets.UTF_8));
    Path crashed = crashed("crashed");
    succeed(transaction::rollbackPrepared);
    reopen(crashed);
    // After a restart, too.
    assertEquals("3", new String(receive().payload().bytes(), StandardCharsets.UTF_8));
    StoreTransaction recovered = store.prepared().getFirst();
    succeed(done -> recovered.commit(true, done));
    assertEquals(List.of("1", "2effect", "3"), rows());
    assertEquals(List.of("3"), tasks());
  }

  @Test
  void shouldRefuseAPreparationWhoseLeaseIsLost() {
    commitBoth(1);
    LeasedTask lent = receive();
    StoreTransaction transaction = begin();
    transaction.queueChanges().complete(lent.token());
    queues.endHolder(LeaseHolder.TIME);
    assertEquals(
        ErrorCode.LEASE_LOST, refusal(done -> transaction.prepare(preparation("part"), done)));
    assertEquals(List.of(), store.prepared());
    assertEquals(1, receive().token().position());
  }
}
