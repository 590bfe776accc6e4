package dev.kakehashi.requests;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.protocol.ErrorCode;
import org.junit.jupiter.api.Test;

/// Levels of clients that share a transaction, as levels of the engine.
class SharedSavepointsTest {
  private static final String A = "a";
  private static final String B = "b";

  private final SharedSavepoints savepoints = new SharedSavepoints();

  private static void assertFails(ErrorCode code, Runnable action) {
    assertEquals(code, assertThrows(EngineException.class, action::run).code());
  }

  @Test
  void shouldLeaveTheLevelsOfOneClientAsTheyAre() {
    assertEquals(1, savepoints.set(A, 1));
    assertEquals(2, savepoints.set(A, 2));
    assertEquals(3, savepoints.set(A, 3));
    assertEquals(3, savepoints.release(A, 3));
    assertEquals(1, savepoints.rollbackTo(A, 1));
    assertEquals(2, savepoints.set(A, 2));
    assertEquals(1, savepoints.release(A, 1));
    assertFails(ErrorCode.NO_SUCH_SAVEPOINT, () -> savepoints.release(A, 1));
    assertFails(ErrorCode.NO_SUCH_SAVEPOINT, () -> savepoints.rollbackTo(A, 1));
  }

  @Test
  void shouldRefuseALevelTwice() {
    savepoints.set(A, 2);
    assertFails(ErrorCode.INVALID_PARAMETER_VALUE, () -> savepoints.set(A, 1));
    assertFails(ErrorCode.INVALID_PARAMETER_VALUE, () -> savepoints.set(A, 2));
    assertFails(ErrorCode.NO_SUCH_SAVEPOINT, () -> savepoints.release(A, 3));
    assertFails(ErrorCode.NO_SUCH_SAVEPOINT, () -> savepoints.release(B, 1));
    // Levels that were left out are where the next one is.
    assertEquals(1, savepoints.rollbackTo(A, 1));
    assertEquals(1, savepoints.release(A, 1));
  }

  @Test
  void shouldKeepWhatLiesBelowAnothersLevel() {
    assertEquals(1, savepoints.set(A, 1));
    assertEquals(2, savepoints.set(B, 1));
    assertEquals(0, savepoints.release(A, 1));
    assertEquals(2, savepoints.rollbackTo(B, 1));
    assertEquals(1, savepoints.release(B, 1));
  }

  @Test
  void shouldReleaseInTheOtherOrder() {
    savepoints.set(A, 1);
    savepoints.set(B, 1);
    assertEquals(2, savepoints.release(B, 1));
    assertEquals(1, savepoints.release(A, 1));
  }

  @Test
  void shouldBeginAnewWhatAnotherHasRolledBack() {
    savepoints.set(A, 1);
    savepoints.set(B, 1);
    assertEquals(1, savepoints.rollbackTo(A, 1));
    assertEquals(0, savepoints.release(A, 1));
    assertEquals(1, savepoints.rollbackTo(B, 1));
    assertEquals(1, savepoints.release(B, 1));
    assertEquals(1, savepoints.set(B, 1));
  }

  @Test
  void shouldNestInBothOrders() {
    savepoints.set(A, 1);
    savepoints.set(B, 1);
    savepoints.set(A, 2);
    assertEquals(4, savepoints.set(B, 2));
    // The inner one ends with a rollback, the outer one with a release, each first at A.
    assertEquals(3, savepoints.rollbackTo(A, 2));
    assertEquals(0, savepoints.release(A, 2));
    assertEquals(3, savepoints.rollbackTo(B, 2));
    assertEquals(3, savepoints.release(B, 2));
    assertEquals(0, savepoints.release(A, 1));
    assertEquals(1, savepoints.release(B, 1));
    // And first at B, with the outer one rolled back while the inner one is there.
    savepoints.set(A, 1);
    savepoints.set(B, 1);
    savepoints.set(A, 2);
    savepoints.set(B, 2);
    assertEquals(2, savepoints.rollbackTo(B, 1));
    assertEquals(0, savepoints.release(B, 1));
    assertEquals(1, savepoints.rollbackTo(A, 1));
    assertEquals(1, savepoints.release(A, 1));
  }

  @Test
  void shouldForgetTheLevelsOfAClientThatIsGone() {
    savepoints.set(A, 1);
    savepoints.set(B, 1);
    savepoints.forget(B);
    assertEquals(3, savepoints.set(A, 2));
    assertEquals(2, savepoints.release(A, 2));
    assertEquals(1, savepoints.release(A, 1));
  }
}
