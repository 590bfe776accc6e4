package dev.kakehashi.sharedmemory;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.protocol.ErrorCode;
import dev.kakehashi.protocol.Failure;
import dev.kakehashi.transport.TransportException;
import org.junit.jupiter.api.Test;

/// Failures that a client is told, for what was thrown.
class ClientFailuresTest {
  @Test
  void shouldTellAllThatTheEngineSays() {
    Failure failure =
        ClientFailures.of(
            (Throwable)
                new EngineException(ErrorCode.UNIQUE_VIOLATION, "duplicate key")
                    .withDetail("detail")
                    .withHint("hint")
                    .withTable("public", "account")
                    .withColumn("id")
                    .withConstraint("account_pkey")
                    .withPosition(3));
    assertEquals(
        new Failure(
            ErrorCode.UNIQUE_VIOLATION.number(),
            "23505",
            "duplicate key",
            "detail",
            "hint",
            "public",
            "account",
            "id",
            "account_pkey",
            3,
            false),
        failure);
  }

  @Test
  void shouldTellWhatTheTransportSays() {
    Failure failure =
        ClientFailures.of(
            new TransportException(ErrorCode.DISK_FULL, "no space", "detail", "hint", null));
    assertEquals(Failure.of(ErrorCode.DISK_FULL, "no space", "detail", "hint"), failure);
  }

  /// A client learns of a mistake of ours that there was one, and its session goes on.
  @Test
  void shouldTakeAnythingElseForAMistakeOfOurs() {
    Failure failure = ClientFailures.of(new IllegalStateException("impossible"));
    assertEquals("XX000", failure.sqlstate());
    assertTrue(failure.message().contains("impossible"), failure.message());
    assertFalse(failure.fatal());
  }
}
