package dev.kakehashi.engine.store;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.engine.store.api.ColumnKind;
import dev.kakehashi.engine.store.api.Preparation;
import dev.kakehashi.engine.store.api.StoreTransaction;
import dev.kakehashi.engine.store.api.TableDefinition;
import dev.kakehashi.engine.store.api.TableDefinition.IndexDefinition;
import dev.kakehashi.engine.store.api.TableStore;
import dev.kakehashi.protocol.ErrorCode;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/// A transaction whose commit the log cannot take is told its true outcome.
@Timeout(120)
@SuppressWarnings("NullAway.Init") // set before each test
final class RefusedCommitTest {
  private final TestLog log = new TestLog();
  private MemoryStore store;
  private TableStore table;

  @BeforeEach
  void openWithARow() {
    store = MemoryStore.open(log, 1L << 28);
    TableDefinition definition =
        new TableDefinition(
            store.nextObjectId(),
            List.of(ColumnKind.INTEGER, ColumnKind.INTEGER),
            List.of(true, false),
            List.of(
                new IndexDefinition(
                    store.nextObjectId(), "items_pkey", List.of(0), List.of(false), true)));
    table = CatalogTool.createTable(store, definition);
    Rows.commit(insertion(1));
  }

  @AfterEach
  void close() {
    log.full = false;
    store.close();
  }

  private StoreTransaction insertion(long id) {
    StoreTransaction transaction = store.begin(false, false);
    transaction.beginStatement();
    Rows.insert(table, transaction, id, 0L);
    return transaction;
  }

  private static @Nullable EngineException outcome(
      Consumer<Consumer<@Nullable Throwable>> operation) throws Exception {
    CompletableFuture<Optional<Throwable>> result = new CompletableFuture<>();
    operation.accept(failure -> result.complete(Optional.ofNullable(failure)));
    return (EngineException) result.get(60, TimeUnit.SECONDS).orElse(null);
  }

  private static @Nullable EngineException commit(StoreTransaction transaction) throws Exception {
    return outcome(done -> transaction.commit(true, done));
  }

  private static @Nullable EngineException prepare(StoreTransaction transaction) throws Exception {
    return outcome(done -> transaction.prepare(new Preparation("part", "", "alice", 0, 0), done));
  }

  private int rows() {
    StoreTransaction reader = store.begin(true, false);
    try {
      return Rows.scan(table, reader.beginStatement()).size();
    } finally {
      reader.abort();
    }
  }

  private static void assertSays(@Nullable EngineException told, ErrorCode code, String detail) {
    EngineException failure = Objects.requireNonNull(told, "told of success");
    assertEquals(code, failure.code(), failure.toString());
    assertTrue(failure.detail().contains(detail), failure.detail());
  }

  @Test
  void shouldRollBackBeforeAnybodySeesACommitThatTheDiskHasNoRoomFor() throws Exception {
    log.noRoom = true;
    for (long id = 2; id < 4; id++) {
      assertSays(commit(insertion(id)), ErrorCode.DISK_FULL, "was rolled back");
      assertEquals(1, rows());
    }
    log.noRoom = false;
    assertNull(commit(insertion(4)));
    assertEquals(2, rows());
  }

  @Test
  void shouldRollBackWhatCannotBePreparedForLackOfRoom() throws Exception {
    log.noRoom = true;
    assertSays(prepare(insertion(2)), ErrorCode.DISK_FULL, "was rolled back");
    assertEquals(List.of(), store.prepared());
    log.noRoom = false;
    // The key is free again.
    assertNull(commit(insertion(2)));
  }

  @Test
  void shouldCommitWhatIsPreparedAlthoughTheDiskIsFull() throws Exception {
    StoreTransaction transaction = insertion(2);
    assertNull(prepare(transaction));
    log.noRoom = true;
    assertNull(commit(transaction));
    assertEquals(2, rows());
    assertEquals(0, log.reserved());
  }

  @Test
  void shouldRollBackWhatIsPreparedAlthoughTheDiskIsFull() throws Exception {
    StoreTransaction transaction = insertion(2);
    assertNull(prepare(transaction));
    log.noRoom = true;
    assertNull(outcome(transaction::rollbackPrepared));
    assertEquals(1, rows());
    assertEquals(0, log.reserved());
  }

  /// One commit is under way when the disk begins to fail: others see it. Later commits are refused, and none of them is there afterwards.
  @Test
  void shouldTellACommitInDoubtFromThoseThatAreRefused() throws Exception {
    log.full = true;
    assertSays(
        commit(insertion(2)), ErrorCode.TRANSACTION_RESOLUTION_UNKNOWN, "is committed and others");
    assertEquals(2, rows());
    CompletableFuture<Boolean> durable = new CompletableFuture<>();
    store.whenAllDurable(() -> durable.complete(true));
    for (long id = 3; id < 6; id++) {
      assertSays(commit(insertion(id)), ErrorCode.DISK_FULL, "was rolled back");
      assertEquals(2, rows());
    }
    assertSays(prepare(insertion(6)), ErrorCode.DISK_FULL, "was rolled back");
    log.full = false;
    assertTrue(durable.get(60, TimeUnit.SECONDS));
    assertNull(commit(insertion(7)));
    assertEquals(3, rows());
    assertEquals(0, log.reserved());
  }

  @Test
  void shouldKeepAPreparedTransactionWhoseDecisionIsRefused() throws Exception {
    StoreTransaction transaction = insertion(2);
    assertNull(prepare(transaction));
    log.full = true;
    assertSays(
        commit(insertion(3)), ErrorCode.TRANSACTION_RESOLUTION_UNKNOWN, "is committed and others");
    assertSays(commit(transaction), ErrorCode.DISK_FULL, "stays prepared");
    assertSays(outcome(transaction::rollbackPrepared), ErrorCode.DISK_FULL, "stays prepared");
    CompletableFuture<Boolean> durable = new CompletableFuture<>();
    store.whenAllDurable(() -> durable.complete(true));
    log.full = false;
    assertTrue(durable.get(60, TimeUnit.SECONDS));
    assertNull(commit(transaction));
    assertEquals(3, rows());
    assertEquals(0, log.reserved());
  }
}
