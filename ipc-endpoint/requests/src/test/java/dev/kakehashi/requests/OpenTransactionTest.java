package dev.kakehashi.requests;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.kakehashi.protocol.messages.TransactionState;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalLong;
import org.junit.jupiter.api.Test;

/// How long a transaction lives that nobody uses, and who may end it.
class OpenTransactionTest {
  private static final long BEGIN_NANOS = -5; // the clock may begin anywhere
  private static final long LEASE_NANOS = 10;
  private static final long WORK_NANOS = 100;

  private final OpenTransaction transaction =
      new OpenTransaction(
          7,
          new IdleTransaction(),
          TransactionOwner.of("alice", 1000),
          false,
          LEASE_NANOS,
          WORK_NANOS,
          BEGIN_NANOS);

  @Test
  void shouldLiveForItsLease() {
    assertEquals(BEGIN_NANOS + LEASE_NANOS, transaction.leaseDeadlineNanos());
    assertFalse(transaction.checkLease(BEGIN_NANOS));
    assertFalse(transaction.checkLease(BEGIN_NANOS + LEASE_NANOS - 1));
    assertTrue(transaction.checkLease(BEGIN_NANOS + LEASE_NANOS));
  }

  @Test
  void shouldBeIdleFromItsBeginningOn() {
    assertEquals(BEGIN_NANOS, transaction.lookForIdleness(BEGIN_NANOS + 3));
    assertEquals(BEGIN_NANOS, transaction.lookForIdleness(BEGIN_NANOS + 9));
    assertEquals(OptionalLong.of(BEGIN_NANOS), transaction.idleSinceNanos());
  }

  @Test
  void shouldLetTheFirstOneEndIt() {
    assertFalse(transaction.isEnding());
    assertTrue(transaction.beginEnd());
    assertTrue(transaction.isEnding());
    assertFalse(transaction.beginEnd());
  }

  @Test
  void shouldTellWhoWantedToEndItTooOnceItIsForgotten() {
    List<String> told = new ArrayList<>();
    transaction.beginEnd();
    transaction.whenForgotten(() -> told.add("second"));
    transaction.whenForgotten(() -> told.add("third"));
    assertEquals(List.of(), told);
    transaction.forget();
    assertEquals(List.of("second", "third"), told);
    transaction.forget();
    assertEquals(List.of("second", "third"), told);
  }

  @Test
  void shouldHaveTheStateOfTheEnginesTransaction() {
    assertEquals(TransactionState.ACTIVE, transaction.state());
  }
}
