package dev.kakehashi.sharedmemory;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.kakehashi.engine.api.BeginOptions;
import dev.kakehashi.engine.api.EngineTransaction;
import dev.kakehashi.protocol.Frames;
import dev.kakehashi.protocol.Protocol;
import dev.kakehashi.protocol.messages.BeginTransactionDecoder;
import dev.kakehashi.protocol.messages.BeginTransactionEncoder;
import dev.kakehashi.protocol.messages.CommitResponse;
import dev.kakehashi.protocol.messages.IsolationLevel;
import dev.kakehashi.protocol.messages.MessageHeaderEncoder;
import dev.kakehashi.protocol.messages.TransactionKind;
import org.agrona.concurrent.UnsafeBuffer;
import org.junit.jupiter.api.Test;

/// Options of a begin, from the message to the engine.
class BeginOptionsTest {
  private static BeginOptions begin(long timeoutNanos, int deferrable) {
    UnsafeBuffer buffer = new UnsafeBuffer(new byte[512]);
    BeginTransactionEncoder begin = new BeginTransactionEncoder();
    begin
        .wrapAndApplyHeader(buffer, 0, new MessageHeaderEncoder())
        .kind(TransactionKind.LTX)
        .isolation(IsolationLevel.SERIALIZABLE)
        .timeoutNanos(timeoutNanos)
        .priority(-3)
        .deferrable((short) deferrable)
        .label("label")
        .writePreserve("preserve")
        .readInclude("include")
        .readExclude("exclude");
    UnsafeBuffer frame =
        new UnsafeBuffer(buffer, 0, Protocol.MESSAGE_HEADER_BYTES + begin.encodedLength());
    return FrameOptions.options(Frames.wrap(new BeginTransactionDecoder(), frame), frame);
  }

  @Test
  void shouldTakeOverAllThatTheClientSays() {
    BeginOptions options = begin(5, 1);
    assertEquals(BeginOptions.Kind.LTX, options.kind());
    assertEquals(BeginOptions.Isolation.SERIALIZABLE, options.isolation());
    assertEquals(5, options.timeoutNanos());
    assertEquals(-3, options.priority());
    assertEquals("label", options.label());
    assertEquals(new BeginOptions.Areas("preserve", "include", "exclude"), options.areas());
    assertTrue(options.deferrable());
  }

  /// An older client's message has no such field, which then reads as the null value.
  @Test
  void shouldTakeATransactionForDeferrableOnlyIfItsClientSaysSo() {
    assertFalse(begin(0, 0).deferrable());
    assertFalse(begin(0, 255).deferrable());
  }

  @Test
  void shouldTakeATimeoutBeyondTheClockForTheLongest() {
    assertEquals(Long.MAX_VALUE, begin(-1, 0).timeoutNanos());
  }

  @Test
  void shouldRefuseWhatNamesNothing() {
    assertThrows(
        IllegalArgumentException.class,
        () -> FrameOptions.options(TransactionKind.NULL_VAL, IsolationLevel.READ_COMMITTED, ""));
    assertThrows(
        IllegalArgumentException.class,
        () -> FrameOptions.options(TransactionKind.OCC, IsolationLevel.NULL_VAL, ""));
    assertThrows(
        IllegalArgumentException.class, () -> FrameOptions.response(CommitResponse.NULL_VAL));
    assertEquals(
        EngineTransaction.CommitResponse.AVAILABLE,
        FrameOptions.response(CommitResponse.AVAILABLE));
  }
}
