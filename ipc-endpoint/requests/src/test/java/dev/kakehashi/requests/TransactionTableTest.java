package dev.kakehashi.requests;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.protocol.ErrorCode;
import java.util.List;
import org.junit.jupiter.api.Test;

/// A handle names one transaction, and never another one afterwards.
class TransactionTableTest {
  private static final int CAPACITY = 3;

  private final TransactionTable table = new TransactionTable(CAPACITY);

  private OpenTransaction begin() {
    OpenTransaction transaction =
        new OpenTransaction(
            table.reserve(),
            new IdleTransaction(),
            TransactionOwner.of("alice", 1000),
            false,
            10,
            100,
            0);
    table.put(transaction);
    return transaction;
  }

  @Test
  void shouldFindWhatIsOpenByItsHandle() {
    OpenTransaction one = begin();
    OpenTransaction other = begin();
    assertSame(one, table.get(one.handle()));
    assertSame(other, table.get(other.handle()));
    assertEquals(2, table.count());
    assertEquals(2, table.all().size());
  }

  @Test
  void shouldNotFindTheSuccessorInASlotByAnOldHandle() {
    OpenTransaction ended = begin();
    table.remove(ended);
    assertNull(table.get(ended.handle()));
    OpenTransaction successor = begin();
    assertNotEquals(ended.handle(), successor.handle());
    assertNull(table.get(ended.handle()));
    table.remove(ended); // once more: the slot is another's now
    assertSame(successor, table.get(successor.handle()));
    assertEquals(List.of(successor), table.all());
  }

  @Test
  void shouldFindNothingByAHandleThatWasNeverGivenOut() {
    OpenTransaction open = begin();
    for (long handle : new long[] {0, -1, open.handle() + 1, open.handle() ^ 1L << 40, 0xFFFF}) {
      assertNull(table.get(handle), "handle " + handle);
    }
  }

  @Test
  void shouldRefuseMoreThanItHasRoomForUntilOneHasEnded() {
    OpenTransaction first = begin();
    begin();
    begin();
    EngineException refused = assertThrows(EngineException.class, table::reserve);
    assertEquals(ErrorCode.OUT_OF_SLOTS, refused.code());
    assertTrue(refused.hint().contains("max_transactions"), refused.hint());
    table.remove(first);
    begin();
    assertEquals(CAPACITY, table.count());
  }

  /// A handle that was reserved for a begin that failed is not given out again either.
  @Test
  void shouldGiveEachReservationAHandleOfItsOwn() {
    long failed = table.reserve();
    OpenTransaction next = begin();
    assertNotEquals(failed, next.handle());
    assertEquals(1, table.count());
  }

  @Test
  void shouldSayWhenATransactionBeganAtTheEarliest() {
    long before = System.currentTimeMillis();
    TransactionTable fresh = new TransactionTable(CAPACITY);
    long began = TransactionTable.beganMillis(fresh.reserve());
    assertTrue(began >= before - 1 && began <= System.currentTimeMillis(), "began at " + began);
  }
}
