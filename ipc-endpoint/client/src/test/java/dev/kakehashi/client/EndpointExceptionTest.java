package dev.kakehashi.client;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.kakehashi.protocol.ErrorCode;
import dev.kakehashi.protocol.Failure;
import org.junit.jupiter.api.Test;

/// Failures as programs see them.
class EndpointExceptionTest {
  @Test
  void shouldSayWhetherTheSessionIsOver() {
    Failure conflict = Failure.of(ErrorCode.SERIALIZATION_FAILURE, "could not serialize access");
    assertFalse(new EndpointException(conflict, null).isFatal());
    assertTrue(new EndpointException(conflict.asFatal(), null).isFatal());
    assertTrue(EndpointException.of(ErrorCode.CONNECTION_FAILURE, "gone").isFatal());
  }

  @Test
  void shouldShowDetailAndHintBehindTheMessage() {
    Failure failure = Failure.of(ErrorCode.DISK_FULL, "no space", "The detail.", "The hint.");
    EndpointException exception = new EndpointException(failure, null);
    assertEquals("no space", exception.getMessage());
    assertEquals("53100: no space; The detail.; The hint.", exception.toString());
    assertEquals(
        "53100: no space", EndpointException.of(ErrorCode.DISK_FULL, "no space").toString());
  }
}
