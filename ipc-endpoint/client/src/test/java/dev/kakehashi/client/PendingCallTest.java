package dev.kakehashi.client;

import static dev.kakehashi.protocol.layout.ResponseSlotLayout.CONSUMED_OFFSET;
import static dev.kakehashi.protocol.layout.ResponseSlotLayout.FRAME_BYTES_OFFSET;
import static dev.kakehashi.protocol.layout.ResponseSlotLayout.PRODUCED_OFFSET;
import static dev.kakehashi.protocol.layout.ResponseSlotLayout.STATUS_OFFSET;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.kakehashi.protocol.ErrorCode;
import dev.kakehashi.protocol.MalformedFrameException;
import dev.kakehashi.protocol.Protocol;
import dev.kakehashi.protocol.RowBatchReader;
import dev.kakehashi.protocol.RowBatchWriter;
import dev.kakehashi.protocol.capability.Capabilities;
import dev.kakehashi.protocol.layout.BatchDescriptorLayout;
import dev.kakehashi.protocol.layout.ResponseSlotLayout;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Objects;
import org.agrona.concurrent.UnsafeBuffer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.function.Executable;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/// The client's end of a response slot, in memory that an endpoint has written well, or as it must not.
///
/// All that is waited for is there, so a call asks only whether its session lives.
class PendingCallTest {
  private static final long REQUEST = 5;
  private static final int WINDOW = 2;
  private static final int FRAME_OFFSET = 1024;
  private static final int FRAME_BYTES = 512;
  private static final int INLINE_OFFSET = 2048;
  private static final int INLINE_BYTES = 2048;
  private static final int SLOT_BYTES = 4096;
  private static final int ARENA_BYTES = 8192;
  private static final int MAX_BATCH_BYTES = 4096;

  private final MemorySegment slot = Arena.ofAuto().allocate(SLOT_BYTES, 128);
  private final MemorySegment arena = Arena.ofAuto().allocate(ARENA_BYTES, 128);
  private boolean isAlive = true;
  private final PendingCall call = begun();

  private PendingCall begun() {
    Limits limits =
        new Limits(
            new Limits.Identity(1, 2, "1000", "1.0.0"),
            new Limits.Mailbox(
                0,
                1,
                1,
                new Limits.Slot(
                    SLOT_BYTES, FRAME_OFFSET, FRAME_BYTES, INLINE_OFFSET, INLINE_BYTES, WINDOW)),
            new Limits.Queue(1, "q", 1 << 20, 1 << 16),
            ARENA_BYTES,
            MAX_BATCH_BYTES,
            16,
            0,
            0,
            Capabilities.EMBEDDED);
    PendingCall begun = new PendingCall(owner(), limits, 0, slot, arena);
    begun.begin(REQUEST);
    return begun;
  }

  private PendingCall.Owner owner() {
    return new PendingCall.Owner() {
      @Override
      public void checkAlive() {
        if (!isAlive) {
          throw EndpointException.of(ErrorCode.CONNECTION_FAILURE, "session has ended");
        }
      }

      @Override
      public void ringReleased() {
        throw new AssertionError("nothing waits for the ring");
      }
    };
  }

  /// Writes a batch of one row with one number.
  private static int batch(MemorySegment memory, long number) {
    RowBatchWriter writer = RowBatchWriter.fixed(memory, 1, 1);
    assertTrue(writer.addRow());
    writer.setLong(0, number);
    return writer.finish();
  }

  /// Says where batch `n` is, as the endpoint does.
  private void produce(long n, long offset, int bytes) {
    int descriptor = BatchDescriptorLayout.offsetInSlot(n, WINDOW);
    slot.set(ValueLayout.JAVA_LONG, descriptor + BatchDescriptorLayout.OFFSET_OFFSET, offset);
    slot.set(ValueLayout.JAVA_INT, descriptor + BatchDescriptorLayout.BYTES_OFFSET, bytes);
    slot.set(ValueLayout.JAVA_LONG, PRODUCED_OFFSET, n + 1);
  }

  private void finished(long request, int frameBytes) {
    slot.set(ValueLayout.JAVA_INT, FRAME_BYTES_OFFSET, frameBytes);
    slot.set(ValueLayout.JAVA_LONG, STATUS_OFFSET, ResponseSlotLayout.finishedStatus(request));
  }

  private long number() {
    RowBatchReader batch = Objects.requireNonNull(call.nextBatch(), "no batch");
    return batch.getLong(0, 0);
  }

  @Test
  void shouldReadBatchesInTheSlotAndInTheArena() {
    produce(0, Protocol.INLINE, batch(slot.asSlice(INLINE_OFFSET, INLINE_BYTES), 7));
    produce(1, 4096, batch(arena.asSlice(4096), 8));
    assertEquals(7, number());
    assertEquals(7, number(), "it is the same until it is released");
    call.release();
    assertEquals(1, slot.get(ValueLayout.JAVA_LONG, CONSUMED_OFFSET));
    assertEquals(8, number());
    call.release();
    // The ring begins anew.
    produce(2, 0, batch(arena, 9));
    assertEquals(9, number());
    call.release();
    finished(REQUEST, 100);
    assertNull(call.nextBatch());
    assertEquals(3, slot.get(ValueLayout.JAVA_LONG, CONSUMED_OFFSET));
  }

  @ParameterizedTest
  @CsvSource({
    // In the arena of 8,192 bytes.
    "8192, 64",
    "8136, 64",
    "-2, 64",
    "-9223372036854775808, 64",
    "9223372036854775807, 64",
    "9223372036854775800, 2147483647",
    "0, 8193",
    "0, -1",
    "4096, -2147483648",
    // Shorter than the head of a batch.
    "0, 0",
    "0, 8",
  })
  void shouldRefuseABatchThatLeavesItsMemory(long offset, int bytes) {
    produce(0, offset, bytes);
    assertThrows(MalformedFrameException.class, call::nextBatch);
  }

  @ParameterizedTest
  @CsvSource({"2049", "4096", "2147483647", "-1"})
  void shouldRefuseABatchThatLeavesTheSlot(int bytes) {
    produce(0, Protocol.INLINE, bytes);
    assertThrows(MalformedFrameException.class, call::nextBatch);
  }

  /// The head of a batch says more than its descriptor.
  @Test
  void shouldRefuseABatchThatIsLongerThanItsDescriptorSays() {
    int bytes = batch(arena, 7);
    produce(0, 0, bytes - 8);
    assertThrows(MalformedFrameException.class, call::nextBatch);
  }

  /// The slot's last request has left its final frame there.
  @Test
  void shouldNotTakeTheEndOfAnotherRequestForItsOwn() {
    finished(REQUEST - 1, 100);
    assertFalse(call.isReady(0));
    finished(REQUEST, 100);
    assertTrue(call.isReady(0));
  }

  @Test
  void shouldCopyTheFinalFrameAndReleaseWhatIsLeft() {
    produce(0, 0, batch(arena, 7));
    produce(1, 0, batch(arena, 7));
    slot.asSlice(FRAME_OFFSET, 100).fill((byte) 3);
    finished(REQUEST, 100);
    UnsafeBuffer frame = call.finish();
    assertEquals(2, slot.get(ValueLayout.JAVA_LONG, CONSUMED_OFFSET));
    // Whatever the slot's memory becomes.
    slot.fill((byte) 9);
    assertEquals(100, frame.capacity());
    assertEquals(3, frame.getByte(99));
  }

  @Test
  void shouldReadALongFinalFrameInTheArena() {
    arena.asSlice(4096, FRAME_BYTES + 1).fill((byte) 4);
    slot.set(ValueLayout.JAVA_LONG_UNALIGNED, FRAME_OFFSET, 4096);
    finished(REQUEST, FRAME_BYTES + 1);
    UnsafeBuffer frame = call.finish();
    assertEquals(FRAME_BYTES + 1, frame.capacity());
    assertEquals(4, frame.getByte(FRAME_BYTES));
  }

  /// @param offset where a long frame is said to be
  @ParameterizedTest
  @CsvSource({
    // Shorter than a header.
    "0, 0",
    "7, 0",
    "-1, 0",
    "-2147483648, 0",
    // Longer than the longest batch.
    "4097, 0",
    "2147483647, 0",
    // Outside of the arena.
    "513, 8192",
    "513, 7680",
    "513, -1",
    "4096, 9223372036854775807",
    "4096, -9223372036854775808",
  })
  void shouldRefuseAFinalFrameThatLeavesItsMemory(int bytes, long offset) {
    slot.set(ValueLayout.JAVA_LONG_UNALIGNED, FRAME_OFFSET, offset);
    finished(REQUEST, bytes);
    EndpointException refused = assertThrows(EndpointException.class, call::finish);
    assertEquals(ErrorCode.MALFORMED_MESSAGE.sqlstate(), refused.sqlstate());
    assertNotNull(refused.getMessage());
  }

  /// The endpoint clears the memory of a session that it has ended. It has not violated the protocol.
  @Test
  void shouldSayThatTheSessionHasEndedWhereItsMemoryMeansNothing() {
    produce(0, 0, batch(arena, 7));
    assertEquals(7, number());
    call.release();
    slot.fill((byte) 0);
    isAlive = false;
    assertEquals(ErrorCode.CONNECTION_FAILURE.sqlstate(), refused(call::nextBatch));
  }

  @ParameterizedTest
  @CsvSource({"-1, 64", "0, 0", "0, 8193"})
  void shouldSayThatTheSessionHasEndedWhateverItsBatchIs(long offset, int bytes) {
    produce(0, offset, bytes);
    isAlive = false;
    assertEquals(ErrorCode.CONNECTION_FAILURE.sqlstate(), refused(call::nextBatch));
  }

  @Test
  void shouldSayThatTheSessionHasEndedWhateverItsFinalFrameIs() {
    finished(REQUEST, 0);
    isAlive = false;
    assertEquals(ErrorCode.CONNECTION_FAILURE.sqlstate(), refused(call::finish));
  }

  private static String refused(Executable call) {
    return assertThrows(EndpointException.class, call).sqlstate();
  }
}
