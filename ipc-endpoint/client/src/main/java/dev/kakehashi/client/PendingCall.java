package dev.kakehashi.client;

import static dev.kakehashi.protocol.layout.ResponseSlotLayout.CLIENT_SLEEPING_OFFSET;
import static dev.kakehashi.protocol.layout.ResponseSlotLayout.CONSUMED_OFFSET;
import static dev.kakehashi.protocol.layout.ResponseSlotLayout.EVENT_OFFSET;
import static dev.kakehashi.protocol.layout.ResponseSlotLayout.FRAME_BYTES_OFFSET;
import static dev.kakehashi.protocol.layout.ResponseSlotLayout.PRODUCED_OFFSET;
import static dev.kakehashi.protocol.layout.ResponseSlotLayout.PRODUCER_WAITING_OFFSET;
import static dev.kakehashi.protocol.layout.ResponseSlotLayout.STATUS_OFFSET;

import dev.kakehashi.protocol.ErrorCode;
import dev.kakehashi.protocol.Failure;
import dev.kakehashi.protocol.Frames;
import dev.kakehashi.protocol.MalformedFrameException;
import dev.kakehashi.protocol.PoliteSpin;
import dev.kakehashi.protocol.Protocol;
import dev.kakehashi.protocol.RowBatchReader;
import dev.kakehashi.protocol.layout.BatchDescriptorLayout;
import dev.kakehashi.protocol.layout.ResponseSlotLayout;
import dev.kakehashi.protocol.messages.FailedDecoder;
import dev.kakehashi.transport.os.Futex;
import dev.kakehashi.transport.os.SharedMemory;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import org.agrona.concurrent.UnsafeBuffer;
import org.jspecify.annotations.Nullable;

/// The client's end of one response slot, for one request after the other.
final class PendingCall {
  private static final long LIVENESS_NANOS = 50_000_000L;

  /// The session of a call, as far as the call needs it.
  interface Owner {
    /// @throws EndpointException 08006 when the session has ended
    void checkAlive();

    /// Tells the endpoint, which waits for it, that a place of the ring is free.
    void ringReleased();
  }

  private final Owner owner;
  private final Limits limits;
  private final int slotIndex;
  private final MemorySegment slot;

  /// Layout of all slots.
  private final Limits.Slot layout;

  private final MemorySegment arena;
  private final RowBatchReader reader = new RowBatchReader();
  private final PoliteSpin spin = new PoliteSpin();
  private long requestId;
  private long consumed;

  PendingCall(Owner owner, Limits limits, int slotIndex, MemorySegment slot, MemorySegment arena) {
    this.owner = owner;
    this.limits = limits;
    this.slotIndex = slotIndex;
    this.slot = slot;
    this.layout = limits.mailbox().slot();
    this.arena = arena;
  }

  int slot() {
    return slotIndex;
  }

  long requestId() {
    return requestId;
  }

  void begin(long newRequestId) {
    requestId = newRequestId;
  }

  /// Waits for a batch; null when the response is finished and all batches are released.
  @Nullable RowBatchReader nextBatch() {
    await();
    return hasBatch() ? batch() : null;
  }

  /// Waits for a batch or the final frame, for a time at most.
  ///
  /// @return whether one is there
  /// @throws EndpointException 08006 when the session has ended
  boolean isReady(long timeoutNanos) {
    long deadline = System.nanoTime() + timeoutNanos;
    for (long left = timeoutNanos;
        !isSomething() && left > 0;
        left = deadline - System.nanoTime()) {
      sleep(Math.min(left, LIVENESS_NANOS));
    }
    return isSomething();
  }

  private boolean hasBatch() {
    return SharedMemory.getLongAcquire(slot, PRODUCED_OFFSET) != consumed;
  }

  private boolean isFinished() {
    return SharedMemory.getLongAcquire(slot, STATUS_OFFSET)
        == ResponseSlotLayout.finishedStatus(requestId);
  }

  private boolean isSomething() {
    return hasBatch() || isFinished();
  }

  /// Waits until there is a batch or the final frame: spins as long as published, then sleeps.
  private void await() {
    if (spin.await(this::isSomething, limits.spinNanos())) {
      return;
    }
    while (!isSomething()) {
      sleep(LIVENESS_NANOS);
    }
  }

  private void sleep(long nanos) {
    int event = SharedMemory.getIntAcquire(slot, EVENT_OFFSET);
    SharedMemory.putIntRelease(slot, CLIENT_SLEEPING_OFFSET, 1);
    // Pairs with the endpoint: it adds to `event`, fences, and looks at `clientSleeping`.
    SharedMemory.fullFence();
    if (!isSomething()) {
      Futex.await(slot, EVENT_OFFSET, event, nanos);
    }
    SharedMemory.putIntRelease(slot, CLIENT_SLEEPING_OFFSET, 0);
    if (!isSomething()) {
      owner.checkAlive();
    }
  }

  private RowBatchReader batch() {
    long ready = SharedMemory.getLongAcquire(slot, PRODUCED_OFFSET) - consumed;
    if (ready < 0 || ready > layout.window()) {
      throw malformed(
          new MalformedFrameException("a response slot holds more batches than its window"));
    }
    int descriptor = BatchDescriptorLayout.offsetInSlot(consumed, layout.window());
    long offset =
        SharedMemory.getLongAcquire(slot, descriptor + BatchDescriptorLayout.OFFSET_OFFSET);
    int bytes = SharedMemory.getIntAcquire(slot, descriptor + BatchDescriptorLayout.BYTES_OFFSET);
    MemorySegment memory =
        offset == Protocol.INLINE
            ? slot.asSlice(layout.inlineOffset(), layout.inlineBytes())
            : arena;
    long from = offset == Protocol.INLINE ? 0 : offset;
    if (from < 0 || bytes < 0 || from > memory.byteSize() - bytes) {
      throw malformed(new MalformedFrameException("batch of " + bytes + " bytes at " + from));
    }
    try {
      return reader.wrap(memory.asSlice(from, bytes));
    } catch (MalformedFrameException e) {
      throw malformed(e);
    }
  }

  /// The endpoint clears the memory of a session that it has ended: what is there means nothing then.
  ///
  /// @return `found`, of a session that lives
  /// @throws EndpointException 08006: it does not
  private <E extends RuntimeException> E malformed(E found) {
    owner.checkAlive();
    return found;
  }

  /// Gives the oldest batch back.
  void release() {
    consumed++;
    SharedMemory.putLongRelease(slot, CONSUMED_OFFSET, consumed);
    // Pairs with the endpoint: it stores `producerWaiting`, fences, and looks at `consumed`.
    SharedMemory.fullFence();
    if (SharedMemory.getIntAcquire(slot, PRODUCER_WAITING_OFFSET) != 0
        && SharedMemory.exchangeInt(slot, PRODUCER_WAITING_OFFSET, 0) != 0) {
      owner.ringReleased();
    }
  }

  /// Waits for the end, releasing all batches that are left; returns a copy of the final frame.
  UnsafeBuffer finish() {
    while (nextBatch() != null) {
      release();
    }
    int bytes = SharedMemory.getIntAcquire(slot, FRAME_BYTES_OFFSET);
    boolean isLong = bytes > layout.frameBytes();
    long offset =
        isLong
            ? slot.get(ValueLayout.JAVA_LONG_UNALIGNED, layout.frameOffset())
            : layout.frameOffset();
    MemorySegment memory = isLong ? arena : slot;
    if (bytes < Protocol.MESSAGE_HEADER_BYTES
        || (isLong && bytes > limits.maxBatchBytes())
        || offset < 0
        || offset > memory.byteSize() - bytes) {
      throw malformed(
          EndpointException.of(
              ErrorCode.MALFORMED_MESSAGE, "endpoint sent a final frame of " + bytes + " bytes"));
    }
    byte[] copy = new byte[bytes];
    MemorySegment.copy(memory, ValueLayout.JAVA_BYTE, offset, copy, 0, bytes);
    return new UnsafeBuffer(copy);
  }

  /// The failure of a final frame, if it is one.
  static @Nullable Failure failure(UnsafeBuffer frame, FailedDecoder decoder) {
    return Frames.templateId(frame) == FailedDecoder.TEMPLATE_ID
        ? Failure.decode(Frames.wrap(decoder, frame), frame)
        : null;
  }
}
