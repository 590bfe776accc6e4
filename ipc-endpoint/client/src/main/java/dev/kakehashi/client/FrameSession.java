package dev.kakehashi.client;

import dev.kakehashi.protocol.ErrorCode;
import dev.kakehashi.protocol.Frames;
import dev.kakehashi.protocol.Protocol;
import dev.kakehashi.protocol.messages.BuffersGrantedDecoder;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.List;
import org.agrona.concurrent.UnsafeBuffer;
import org.jspecify.annotations.Nullable;

/// A session that sends requests which somebody else has encoded: for the replay of an archive. One thread.
///
/// Session, request id and response slot of a request are replaced, the rest goes as it is.
public final class FrameSession implements AutoCloseable {
  private static final int SESSION_ID_OFFSET = Protocol.MESSAGE_HEADER_BYTES;
  private static final int REQUEST_ID_OFFSET = SESSION_ID_OFFSET + Long.BYTES;
  private static final int SLOT_OFFSET = REQUEST_ID_OFFSET + Long.BYTES;

  private final Session session;

  private FrameSession(Session session) {
    this.session = session;
  }

  /// Attaches; see [Session#attach].
  public static FrameSession attach(AttachOptions options) {
    return new FrameSession(Session.attach(options));
  }

  /// A request that was sent and will be answered.
  public static final class Pending {
    private final PendingCall call;

    private Pending(PendingCall call) {
      this.call = call;
    }
  }

  /// The answer of a request.
  ///
  /// @param transactionHandle 0: none
  /// @param sqlstate of a failure; empty: success
  /// @param message of a failure
  /// @param grantedBuffers offsets in the arena, of an answer that grants buffers
  public record Answer(
      long transactionHandle,
      long rowsAffected,
      String sqlstate,
      String message,
      List<Long> grantedBuffers) {}

  /// Whether a request wants an answer.
  public static boolean wantsAnswer(byte[] frame) {
    return (new UnsafeBuffer(frame).getShort(SLOT_OFFSET, ByteOrder.LITTLE_ENDIAN) & 0xFFFF)
        != Protocol.NO_SLOT;
  }

  /// Sends a request; `frame` is changed.
  ///
  /// @return null when it wants no answer
  /// @throws EndpointException 53000 when all response slots are in use, 08006 when the endpoint has ended the session
  public @Nullable Pending send(byte[] frame) {
    UnsafeBuffer buffer = new UnsafeBuffer(frame);
    buffer.putLong(
        SESSION_ID_OFFSET, session.limits().identity().sessionId(), ByteOrder.LITTLE_ENDIAN);
    if (!wantsAnswer(frame)) {
      session.encoder().frame(null, frame, id -> putRequestId(buffer, id));
      return null;
    }
    PendingCall call = session.take();
    buffer.putShort(SLOT_OFFSET, (short) call.slot(), ByteOrder.LITTLE_ENDIAN);
    session.send(call, () -> session.encoder().frame(call, frame, id -> putRequestId(buffer, id)));
    return new Pending(call);
  }

  private static void putRequestId(UnsafeBuffer frame, long requestId) {
    frame.putLong(REQUEST_ID_OFFSET, requestId, ByteOrder.LITTLE_ENDIAN);
  }

  /// Asks the endpoint to cancel a request; its answer comes all the same.
  public void cancel(Pending pending) {
    session.cancel(pending.call.requestId());
  }

  /// Reads the answer to its end; rows are thrown away.
  public Answer finish(Pending pending) {
    Reply reply = session.complete(pending.call);
    List<Long> granted = new ArrayList<>();
    if (reply.templateId() == BuffersGrantedDecoder.TEMPLATE_ID) {
      var buffers = Frames.wrap(new BuffersGrantedDecoder(), reply.frame()).buffers();
      while (buffers.hasNext()) {
        granted.add(buffers.next().arenaOffset());
      }
    }
    var failure = reply.failure();
    return new Answer(
        reply.handle(),
        reply.rowsAffected(),
        failure == null ? "" : failure.sqlstate(),
        failure == null ? "" : failure.message(),
        granted);
  }

  /// One more inbound buffer; its offset in the arena.
  public long acquire(int bytes) {
    return session.acquireOne(bytes);
  }

  /// Writes into a granted buffer.
  public void write(long arenaOffset, byte[] bytes) {
    MemorySegment arena = session.arenaMemory();
    if (arenaOffset < 0 || arenaOffset > arena.byteSize() - bytes.length) {
      throw EndpointException.of(
          ErrorCode.MALFORMED_MESSAGE, "buffer at " + arenaOffset + " is outside of the arena");
    }
    MemorySegment.copy(bytes, 0, arena, ValueLayout.JAVA_BYTE, arenaOffset, bytes.length);
  }

  /// Whether the endpoint still has the session.
  public boolean isAlive() {
    return session.isAlive();
  }

  @Override
  public void close() {
    session.close();
  }
}
