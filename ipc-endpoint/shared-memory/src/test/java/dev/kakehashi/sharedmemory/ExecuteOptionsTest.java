package dev.kakehashi.sharedmemory;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.kakehashi.engine.api.ExecuteOptions;
import dev.kakehashi.protocol.Frames;
import dev.kakehashi.protocol.MalformedFrameException;
import dev.kakehashi.protocol.Protocol;
import dev.kakehashi.protocol.messages.ExecuteDecoder;
import dev.kakehashi.protocol.messages.ExecuteEncoder;
import dev.kakehashi.protocol.messages.MessageHeaderEncoder;
import org.agrona.concurrent.UnsafeBuffer;
import org.junit.jupiter.api.Test;

/// Options of an execution, also those of frames that older clients have written and a replay sends.
class ExecuteOptionsTest {
  private static final long MAX_U32 = 0xFFFF_FFFEL;

  private final UnsafeBuffer buffer = new UnsafeBuffer(new byte[512]);

  private UnsafeBuffer execute(long timeoutMillis, long lockTimeoutMillis, long command) {
    ExecuteEncoder execute = new ExecuteEncoder();
    execute
        .wrapAndApplyHeader(buffer, 0, new MessageHeaderEncoder())
        .timeoutMillis(timeoutMillis)
        .lockTimeoutMillis(lockTimeoutMillis)
        .command(command);
    execute.flags().clear().newSnapshot(true);
    return new UnsafeBuffer(buffer, 0, Protocol.MESSAGE_HEADER_BYTES + execute.encodedLength());
  }

  private static ExecuteOptions options(UnsafeBuffer frame) {
    return FrameOptions.of(Frames.wrap(new ExecuteDecoder(), frame));
  }

  /// Makes the frame one of an earlier version, whose block ends before a field.
  private UnsafeBuffer ofVersion(int version, int blockLength) {
    new MessageHeaderEncoder().wrap(buffer, 0).version(version).blockLength(blockLength);
    return new UnsafeBuffer(buffer, 0, Protocol.MESSAGE_HEADER_BYTES + blockLength);
  }

  @Test
  void shouldTakeTimesInMillisecondsForNanoseconds() {
    assertEquals(
        ExecuteOptions.of(true, 1_500_000_000L, 7, 20_000_000L), options(execute(1500, 20, 7)));
  }

  @Test
  void shouldTakeTheLongestTimesWithoutOverflow() {
    ExecuteOptions options = options(execute(MAX_U32, MAX_U32, 1));
    assertEquals(ExecuteOptions.of(true, MAX_U32 * 1_000_000L, 1, MAX_U32 * 1_000_000L), options);
  }

  @Test
  void shouldTakeFieldsForNothingThatAnEarlierVersionLacks() {
    execute(1500, 20, 7);
    UnsafeBuffer beforeLocks =
        ofVersion(
            ExecuteDecoder.lockTimeoutMillisSinceVersion() - 1,
            ExecuteDecoder.lockTimeoutMillisEncodingOffset());
    assertEquals(ExecuteOptions.of(true, 1_500_000_000L, 7, 0), options(beforeLocks));
    UnsafeBuffer beforeCommands =
        ofVersion(ExecuteDecoder.commandSinceVersion() - 1, ExecuteDecoder.commandEncodingOffset());
    assertEquals(ExecuteOptions.of(true, 1_500_000_000L, 0, 0), options(beforeCommands));
  }

  /// A frame of the present has all fields: a shorter one is hostile, or of a client that is broken.
  @Test
  void shouldRefuseAShortBlockOfThisVersion() {
    execute(1500, 20, 7);
    UnsafeBuffer cut =
        ofVersion(ExecuteDecoder.SCHEMA_VERSION, ExecuteDecoder.lockTimeoutMillisEncodingOffset());
    assertThrows(MalformedFrameException.class, () -> options(cut));
  }

  @Test
  void shouldRefuseInboundBatchesThatNoMemoryHolds() {
    assertEquals(Integer.MAX_VALUE, StatementFrames.inbound(Integer.MAX_VALUE));
    assertThrows(MalformedFrameException.class, () -> StatementFrames.inbound(1L << 31));
    assertThrows(MalformedFrameException.class, () -> StatementFrames.inbound(MAX_U32));
  }

  @Test
  void shouldRefuseARequestForRowsThatHasNowhereToPutThem() {
    assertThrows(MalformedFrameException.class, SlotResponse.NONE::required);
  }
}
