package dev.kakehashi.client;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.kakehashi.protocol.ErrorCode;
import dev.kakehashi.protocol.Failure;
import dev.kakehashi.protocol.MalformedFrameException;
import dev.kakehashi.protocol.Protocol;
import dev.kakehashi.protocol.TypeOid;
import dev.kakehashi.protocol.messages.BuffersGrantedDecoder;
import dev.kakehashi.protocol.messages.BuffersGrantedEncoder;
import dev.kakehashi.protocol.messages.CompletedDecoder;
import dev.kakehashi.protocol.messages.CompletedEncoder;
import dev.kakehashi.protocol.messages.MessageHeaderEncoder;
import dev.kakehashi.protocol.messages.PongEncoder;
import dev.kakehashi.protocol.messages.PreparedDecoder;
import dev.kakehashi.protocol.messages.TransactionState;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import org.agrona.concurrent.UnsafeBuffer;
import org.junit.jupiter.api.Test;

/// Final frames, as the endpoint writes them and as it must not.
class ReplyTest {
  private static final int ARENA_BYTES = 8192;
  private static final int BUFFER_BYTES = 4096;

  private final UnsafeBuffer buffer = new UnsafeBuffer(new byte[1024]);

  private UnsafeBuffer frame(int bodyBytes) {
    return new UnsafeBuffer(buffer, 0, Protocol.MESSAGE_HEADER_BYTES + bodyBytes);
  }

  private UnsafeBuffer completed() {
    CompletedEncoder completed = new CompletedEncoder();
    completed
        .wrapAndApplyHeader(buffer, 0, new MessageHeaderEncoder())
        .requestId(1)
        .transactionHandle(7)
        .leaseDeadlineNanos(8)
        .rowsAffected(9)
        .transactionState(TransactionState.ACTIVE);
    return frame(completed.encodedLength());
  }

  private Reply granted(long... offsets) {
    BuffersGrantedEncoder granted = new BuffersGrantedEncoder();
    granted
        .wrapAndApplyHeader(buffer, 0, new MessageHeaderEncoder())
        .requestId(1)
        .bufferBytes(BUFFER_BYTES);
    BuffersGrantedEncoder.BuffersEncoder buffers = granted.buffersCount(offsets.length);
    for (long offset : offsets) {
      buffers.next().arenaOffset(offset);
    }
    return Reply.decode(frame(granted.encodedLength())).require(BuffersGrantedDecoder.TEMPLATE_ID);
  }

  @Test
  void shouldSayWhatASuccessSays() {
    Reply reply = Reply.decode(completed());
    assertSame(reply, reply.require(CompletedDecoder.TEMPLATE_ID));
    assertEquals(TransactionState.ACTIVE, reply.state());
    assertEquals(7, reply.handle());
    assertEquals(8, reply.leaseDeadlineNanos());
    assertEquals(9, reply.rowsAffected());
    assertNull(reply.failure());
  }

  @Test
  void shouldThrowAFailureWithAllThatTheEndpointSaid() {
    Failure said =
        new Failure(
            ErrorCode.UNIQUE_VIOLATION.number(),
            ErrorCode.UNIQUE_VIOLATION.sqlstate(),
            "duplicate key",
            "Key (id)=(7) already exists.",
            "a hint",
            "public",
            "account",
            "id",
            "account_pkey",
            3,
            false);
    int length = said.encode(buffer, 1, 7, 8, TransactionState.ABORTED);
    Reply reply = Reply.decode(new UnsafeBuffer(buffer, 0, length));
    assertEquals(TransactionState.ABORTED, reply.state(), "the transaction's state comes with it");
    EndpointException thrown =
        assertThrows(EndpointException.class, () -> reply.require(CompletedDecoder.TEMPLATE_ID));
    assertEquals("23505", thrown.sqlstate());
    assertEquals(said, thrown.failure());
  }

  @Test
  void shouldRefuseAnAnswerToAnotherQuestion() {
    Reply reply = Reply.decode(completed());
    EndpointException thrown =
        assertThrows(EndpointException.class, () -> reply.require(PreparedDecoder.TEMPLATE_ID));
    assertEquals("08P01", thrown.sqlstate());
  }

  @Test
  void shouldRefuseAFrameThatEndsTooEarly() {
    UnsafeBuffer whole = completed();
    for (int length = 0; length < Protocol.MESSAGE_HEADER_BYTES + 33; length++) {
      UnsafeBuffer part = new UnsafeBuffer(whole, 0, length);
      assertThrows(MalformedFrameException.class, () -> Reply.decode(part), "bytes: " + length);
    }
  }

  @Test
  void shouldFindABatchInTheBufferThatWasGranted() {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment memory = arena.allocate(ARENA_BYTES);
      InboundBuffers buffers = FinalFrames.granted(granted(0, BUFFER_BYTES), memory);
      assertEquals(2, buffers.count());
      assertEquals(BUFFER_BYTES, buffers.bufferBytes());
      int[] types = {TypeOid.INT8};
      Parameters second =
          Parameters.inbound(types, memory.asSlice(buffers.offset(1), BUFFER_BYTES), 0);
      assertEquals(BUFFER_BYTES, buffers.offsetOf(second.writer().batch()));
      Parameters elsewhere = Parameters.inline(types, BUFFER_BYTES);
      assertEquals(-1, buffers.offsetOf(elsewhere.writer().batch()));
    }
  }

  @Test
  void shouldRefuseABufferThatLeavesTheArena() {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment memory = arena.allocate(ARENA_BYTES);
      for (long offset : new long[] {-1, BUFFER_BYTES + 1, Long.MAX_VALUE}) {
        Reply reply = granted(0, offset);
        assertThrows(
            MalformedFrameException.class,
            () -> FinalFrames.granted(reply, memory),
            "at " + offset);
      }
    }
  }

  @Test
  void shouldReadTheWholePayloadOfAPong() {
    byte[] payload = {1, 2, 3};
    PongEncoder pong = new PongEncoder();
    pong.wrapAndApplyHeader(buffer, 0, new MessageHeaderEncoder()).requestId(1);
    int blockBytes = pong.encodedLength();
    pong.putPayload(payload, 0, payload.length);
    int bytes = pong.encodedLength();
    assertArrayEquals(payload, FinalFrames.pong(Reply.decode(frame(bytes))));
    for (int shorter = blockBytes; shorter < bytes; shorter++) {
      Reply reply = Reply.decode(frame(shorter));
      assertThrows(
          MalformedFrameException.class, () -> FinalFrames.pong(reply), "bytes: " + shorter);
    }
  }
}
