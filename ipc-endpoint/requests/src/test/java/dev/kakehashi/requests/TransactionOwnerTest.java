package dev.kakehashi.requests;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;

/// Users that may use a transaction by its handle alone.
class TransactionOwnerTest {
  private static final TransactionOwner ALICE = TransactionOwner.of("alice", 1000);

  @Test
  void shouldAdmitTheSameUserOfTheSameOsUser() {
    assertTrue(ALICE.admits(TransactionOwner.of("alice", 1000)));
    assertFalse(ALICE.admits(TransactionOwner.of("bob", 1000)));
  }

  /// Under peer authentication he only says that he is alice.
  @Test
  void shouldNotAdmitAnotherOsUserByTheHandle() {
    TransactionOwner other = TransactionOwner.of("alice", 1001);
    assertFalse(ALICE.admits(other));
    assertTrue(ALICE.isSameUser(other));
  }

  @Test
  void shouldAdmitAUserWhoseNameIsProved() {
    TransactionOwner proved = TransactionOwner.of("alice", RequestClient.NO_UID);
    assertTrue(ALICE.admits(proved));
    assertFalse(ALICE.admits(TransactionOwner.of("bob", RequestClient.NO_UID)));
    assertFalse(proved.admits(ALICE), "the OS user has not begun it");
  }

  @Test
  void shouldTellUsersApartByTheirKeys() {
    assertEquals(TransactionOwner.userKey("alice"), TransactionOwner.of("alice", 7).userKey());
    assertNotEquals(TransactionOwner.userKey("alice"), TransactionOwner.userKey("bob"));
    // The registry keeps them: they are the same in every version.
    assertEquals(0x2bd806c97f0e00afL, TransactionOwner.userKey("alice"));
  }
}
