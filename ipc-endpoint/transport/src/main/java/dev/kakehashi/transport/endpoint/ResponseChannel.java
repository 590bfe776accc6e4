package dev.kakehashi.transport.endpoint;

import static dev.kakehashi.protocol.layout.ResponseSlotLayout.CLIENT_SLEEPING_OFFSET;
import static dev.kakehashi.protocol.layout.ResponseSlotLayout.CONSUMED_OFFSET;
import static dev.kakehashi.protocol.layout.ResponseSlotLayout.DIRECT_READS_OFFSET;
import static dev.kakehashi.protocol.layout.ResponseSlotLayout.EVENT_OFFSET;
import static dev.kakehashi.protocol.layout.ResponseSlotLayout.EXECUTION_NANOS_OFFSET;
import static dev.kakehashi.protocol.layout.ResponseSlotLayout.FRAME_BYTES_OFFSET;
import static dev.kakehashi.protocol.layout.ResponseSlotLayout.PRODUCED_OFFSET;
import static dev.kakehashi.protocol.layout.ResponseSlotLayout.PRODUCER_WAITING_OFFSET;
import static dev.kakehashi.protocol.layout.ResponseSlotLayout.STATUS_OFFSET;
import static dev.kakehashi.protocol.layout.ResponseSlotLayout.TRANSACTION_HANDLE_OFFSET;
import static dev.kakehashi.protocol.layout.ResponseSlotLayout.TRANSACTION_REQUEST_OFFSET;

import dev.kakehashi.protocol.ErrorCode;
import dev.kakehashi.protocol.Failure;
import dev.kakehashi.protocol.MalformedFrameException;
import dev.kakehashi.protocol.Protocol;
import dev.kakehashi.protocol.layout.BatchDescriptorLayout;
import dev.kakehashi.protocol.layout.ResponseSlotLayout;
import dev.kakehashi.protocol.messages.TransactionState;
import dev.kakehashi.transport.TransportConfig;
import dev.kakehashi.transport.TransportException;
import dev.kakehashi.transport.os.Futex;
import dev.kakehashi.transport.os.SharedMemory;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.List;
import org.agrona.MutableDirectBuffer;
import org.agrona.concurrent.UnsafeBuffer;
import org.jspecify.annotations.Nullable;

/// The endpoint's end of one response slot: row batches, then one final frame, per request.
///
/// Life of a response: the poller calls [#begin]; tasks [#acquire] buffers and stage them; exactly one [#finish] ends it. The
/// client may use the slot again as soon as it has seen the final frame, which [#begin] of the next request checks.
///
/// Thread-safe by one lock per channel: tasks of a parallel statement stage concurrently, while the poller looks for released batches.
/// Callbacks and system calls happen outside of it, except for the reservation of new memory. The position that the client writes
/// (`consumed`) is read once per decision and checked against what we know.
public final class ResponseChannel {
  /// Room for one row batch; staged or discarded exactly once, by the task that has it.
  public final class Buffer {
    private final MemorySegment memory;
    private final int firstBlock; // -1: the inline area
    private final int blocks;
    private boolean done;

    private Buffer(MemorySegment memory, int firstBlock, int blocks) {
      this.memory = memory;
      this.firstBlock = firstBlock;
      this.blocks = blocks;
    }

    /// Writable, 8-byte aligned, not cleared.
    public MemorySegment memory() {
      return memory;
    }

    /// Hands a complete batch to the reader.
    public void stage(int batchBytes, int rowCount) {
      ResponseChannel.this.stage(this, batchBytes, rowCount);
    }

    /// Gives the buffer back unused.
    public void discard() {
      ResponseChannel.this.discard(this);
    }
  }

  /// Writes a final frame.
  @FunctionalInterface
  public interface FrameWriter {
    /// Writes a whole message from the beginning of `buffer`, whose accesses are bounds-checked; returns its length.
    int write(MutableDirectBuffer buffer);
  }

  private final EndpointSession session;
  private final MemorySegment slot;
  private final UnsafeBuffer frameArea;
  private final TransportConfig.Mailbox mailbox;
  private final TransportConfig.Buffers buffers;
  private final BufferArena arena;
  private final ChannelWatch watch;

  // Position up to which the reader had released when a producer looked last and found no room.
  // Written under the lock, read by the poller without it: an old value costs a look under the
  // lock.
  private volatile long seenConsumed = -1;

  private @Nullable Object attachment; // poller only

  // Guarded by this.
  private long requestId;
  private boolean active;
  private @Nullable Failure refusal; // why acquire refuses: canceled, or the session is gone
  private long produced;
  private long reclaimed;
  private int outstanding;
  private boolean inlineTaken;
  private boolean eventPending;
  private int nextBatchBytes;
  private int neededBlocks; // that the last acquire did not get; 0: it did
  private final ChannelBlocks held;
  private int longFrameFirstBlock; // of the final frame that did not fit into the slot
  private int longFrameBlocks; // 0: there is none
  private final int[] ringFirstBlock;
  private final int[] ringBlocks;
  private List<Runnable> waiters = new ArrayList<>(0);
  private long beganNanos;
  private long responses;
  private long batches;
  private long rows;
  private long bytes;
  private long waits;

  ResponseChannel(
      EndpointSession session,
      MemorySegment slot,
      TransportConfig config,
      BufferArena arena,
      ChannelWatch watch) {
    this.session = session;
    this.slot = slot;
    this.mailbox = config.mailbox();
    this.buffers = config.buffers();
    this.arena = arena;
    this.watch = watch;
    this.frameArea =
        new UnsafeBuffer(slot.address() + mailbox.headAreaBytes(), mailbox.frameAreaBytes());
    this.ringFirstBlock = new int[mailbox.channelWindow()];
    this.ringBlocks = new int[mailbox.channelWindow()];
    this.held = new ChannelBlocks(session, arena, config.buffers());
    // A session that had the slot before may have left a number.
    SharedMemory.putLongPlain(slot, DIRECT_READS_OFFSET, 0);
  }

  public EndpointSession session() {
    return session;
  }

  /// Object that the handler of requests keeps for this slot; null: none yet. Poller only.
  public @Nullable Object attachment() {
    return attachment;
  }

  /// Poller only.
  public void attach(Object newAttachment) {
    attachment = newAttachment;
  }

  /// Longest row batch.
  public int maxBatchBytes() {
    return buffers.maxBatchBytes();
  }

  /// Takes the slot for a request. Poller only.
  ///
  /// @throws MalformedFrameException when the client has not given it back
  synchronized void begin(long newRequestId) {
    reclaim();
    if (active || reclaimed != produced) {
      throw new MalformedFrameException("request " + newRequestId + " names a slot that is in use");
    }
    freeLongFrame();
    active = true;
    responses++;
    beganNanos = System.nanoTime();
    requestId = newRequestId;
    refusal = null;
    inlineTaken = false;
    eventPending = false;
    nextBatchBytes = buffers.blockBytes();
    neededBlocks = 0;
  }

  /// The request has begun a transaction. A client that never gets its answer knows by what to ask for the outcome.
  ///
  /// Poller only, before anything runs in it.
  public synchronized void begun(long transactionHandle) {
    SharedMemory.putLongPlain(slot, TRANSACTION_HANDLE_OFFSET, transactionHandle);
    SharedMemory.putLongRelease(slot, TRANSACTION_REQUEST_OFFSET, requestId);
  }

  /// A buffer for a batch of at least `minBytes`, or null when the reader has to release one first, see [#whenWritable].
  ///
  /// @throws TransportException LIMIT_EXCEEDED, DISK_FULL; QUERY_CANCELED after [#cancel()] or the end of the session
  public @Nullable Buffer acquire(int minBytes) {
    boolean publish;
    Buffer buffer;
    synchronized (this) {
      publish = eventPending;
      eventPending = false;
      buffer = acquireLocked(minBytes);
    }
    if (publish) {
      publishEvent();
    }
    return buffer;
  }

  private @Nullable Buffer acquireLocked(int minBytes) {
    refuseIfEnded();
    if (minBytes > buffers.maxBatchBytes()) {
      throw new TransportException(
          ErrorCode.LIMIT_EXCEEDED,
          "row of " + minBytes + " bytes exceeds the longest row batch",
          "A row batch has at most " + buffers.maxBatchBytes() + " bytes.",
          "Raise \"max_batch_bytes\" of the endpoint.",
          null);
    }
    reclaim();
    if (produced + outstanding - reclaimed >= mailbox.channelWindow()) {
      return null;
    }
    if (!inlineTaken && minBytes <= mailbox.inlineBytes()) {
      inlineTaken = true;
      outstanding++;
      int offset = mailbox.headAreaBytes() + mailbox.frameAreaBytes();
      return new Buffer(slot.asSlice(offset, mailbox.inlineBytes()), -1, 0);
    }
    inlineTaken = true;
    int blocks = held.blocksFor(minBytes, nextBatchBytes);
    neededBlocks = blocks;
    int first = held.take(blocks);
    if (first < 0) {
      return null;
    }
    neededBlocks = 0;
    nextBatchBytes = Math.min(buffers.batchBytes(), 2 * nextBatchBytes);
    outstanding++;
    return new Buffer(arena.memory(first, blocks), first, blocks);
  }

  private void stage(Buffer buffer, int batchBytes, int rowCount) {
    boolean publish;
    synchronized (this) {
      take(buffer);
      if (batchBytes <= 0 || batchBytes > buffer.memory.byteSize() || rowCount < 1) {
        throw new IllegalArgumentException(
            "batch of %d bytes and %d rows in a buffer of %d bytes"
                .formatted(batchBytes, rowCount, buffer.memory.byteSize()));
      }
      int entry = (int) Long.remainderUnsigned(produced, mailbox.channelWindow());
      int descriptor = BatchDescriptorLayout.offsetInSlot(produced, mailbox.channelWindow());
      long offset = Protocol.INLINE;
      ringFirstBlock[entry] = buffer.firstBlock;
      ringBlocks[entry] = 0;
      if (buffer.firstBlock >= 0) {
        int usedBlocks = (batchBytes + buffers.blockBytes() - 1) / buffers.blockBytes();
        held.free(buffer.firstBlock + usedBlocks, buffer.blocks - usedBlocks);
        ringBlocks[entry] = usedBlocks;
        offset = (long) buffer.firstBlock * buffers.blockBytes();
      }
      SharedMemory.putLongPlain(slot, descriptor + BatchDescriptorLayout.OFFSET_OFFSET, offset);
      SharedMemory.putIntPlain(slot, descriptor + BatchDescriptorLayout.BYTES_OFFSET, batchBytes);
      SharedMemory.putIntPlain(slot, descriptor + BatchDescriptorLayout.ROW_COUNT_OFFSET, rowCount);
      batches++;
      rows += rowCount;
      bytes += batchBytes;
      produced++;
      outstanding--;
      SharedMemory.putLongRelease(slot, PRODUCED_OFFSET, produced);
      // The event of an inline batch waits for the final frame, or for whatever comes next: a point
      // query wakes its client once.
      publish = buffer.firstBlock >= 0 || eventPending;
      eventPending = !publish;
    }
    if (publish) {
      publishEvent();
    }
  }

  private synchronized void discard(Buffer buffer) {
    take(buffer);
    outstanding--;
    if (buffer.firstBlock < 0) {
      inlineTaken = false;
    } else {
      held.free(buffer.firstBlock, buffer.blocks);
    }
  }

  private void take(Buffer buffer) {
    if (buffer.done) {
      throw new IllegalStateException("buffer has been staged or discarded before");
    }
    buffer.done = true;
  }

  /// Calls `wake` once when [#acquire] is worth trying again; at once if it already is. `wake` must not block.
  public void whenWritable(Runnable wake) {
    boolean publish;
    boolean now;
    synchronized (this) {
      publish = eventPending;
      eventPending = false;
      now = refusal != null;
      if (!now) {
        waiters.add(wake);
        // Pairs with the client's release of a batch: it stores `consumed`, fences, and looks at
        // this flag.
        SharedMemory.putIntRelease(slot, PRODUCER_WAITING_OFFSET, 1);
        SharedMemory.fullFence();
        now = isWritable();
        if (now) {
          waiters.remove(wake);
        } else {
          waits++;
        }
      }
    }
    if (publish) {
      publishEvent();
    }
    if (now) {
      wake.run();
    } else {
      watch.watchWritable(this);
    }
  }

  /// False if the reader has released nothing since a producer looked last. Without the lock: thousands of channels may wait while a reader
  /// releases a batch of one.
  boolean hasMoved() {
    return SharedMemory.getLongAcquire(slot, CONSUMED_OFFSET) != seenConsumed;
  }

  /// Wakes the waiting producers if there is room. True when none waits any more.
  boolean checkWritable() {
    List<Runnable> woken;
    synchronized (this) {
      if (waiters.isEmpty()) {
        return true;
      }
      // Again before each look: the client has cleared it when it rang for a release that turned
      // out not to be enough.
      SharedMemory.putIntRelease(slot, PRODUCER_WAITING_OFFSET, 1);
      SharedMemory.fullFence();
      if (refusal == null && !isWritable()) {
        return false;
      }
      SharedMemory.putIntRelease(slot, PRODUCER_WAITING_OFFSET, 0);
      woken = waiters;
      waiters = new ArrayList<>(0);
    }
    woken.forEach(Runnable::run);
    return true;
  }

  /// When the request arrived that has the slot, by System.nanoTime().
  public synchronized long beganNanos() {
    return beganNanos;
  }

  /// Whether producers wait for the reader.
  public synchronized boolean isWaiting() {
    return !waiters.isEmpty();
  }

  /// Batches that the reader has released since the slot exists.
  public synchronized long consumed() {
    reclaim();
    return reclaimed;
  }

  /// Traffic of this slot for its session, and `others`.
  synchronized EndpointSession.Traffic addTo(EndpointSession.Traffic others) {
    return responses == 0
        ? others
        : new EndpointSession.Traffic(
            others.requests() + responses,
            others.batches() + batches,
            others.rows() + rows,
            others.bytes() + bytes,
            others.waits() + waits,
            others.directReads()
                + Math.max(0, slot.get(ValueLayout.JAVA_LONG, DIRECT_READS_OFFSET)));
  }

  private boolean isWritable() {
    reclaim();
    seenConsumed = reclaimed;
    return produced + outstanding - reclaimed < mailbox.channelWindow()
        && (neededBlocks == 0 || held.mayTake(neededBlocks));
  }

  /// Frees what the reader has released.
  private void reclaim() {
    long consumed = SharedMemory.getLongAcquire(slot, CONSUMED_OFFSET);
    if (consumed == reclaimed) {
      return;
    }
    if (Long.compareUnsigned(consumed - reclaimed, produced - reclaimed) > 0) {
      session.refuse("client has released batches that it was not given");
      return;
    }
    for (; reclaimed != consumed; reclaimed++) {
      int entry = (int) Long.remainderUnsigned(reclaimed, mailbox.channelWindow());
      held.free(ringFirstBlock[entry], ringBlocks[entry]);
      ringBlocks[entry] = 0;
    }
  }

  /// Frees what the reader of a finished response has released. True when nothing is left.
  synchronized boolean checkDrained() {
    reclaim();
    return active || reclaimed == produced;
  }

  /// Makes [#acquire] refuse with QUERY_CANCELED and wakes waiting producers. The response still needs its final frame. No effect on
  /// another request than `targetRequestId`.
  public void cancel(long targetRequestId) {
    synchronized (this) {
      if (!active || requestId != targetRequestId) {
        return;
      }
      refusal = Failure.of(ErrorCode.QUERY_CANCELED, "canceling statement due to user request");
    }
    checkWritable();
  }

  /// The client is gone: nobody will read any more.
  void abandon() {
    synchronized (this) {
      refusal =
          Failure.of(ErrorCode.QUERY_CANCELED, "canceling statement because its client is gone");
    }
    checkWritable();
  }

  private void refuseIfEnded() {
    if (refusal != null) {
      throw new TransportException(ErrorCode.QUERY_CANCELED, refusal.message());
    }
    if (!active) {
      throw new IllegalStateException("response has its final frame");
    }
  }

  /// Ends the response. A frame that does not fit into the slot goes into a buffer of the arena, which is the response's until the slot's
  /// next request; one that cannot have that is replaced by a failure that says so. `writer` may be called more than once.
  public void finish(FrameWriter writer) {
    boolean drained;
    synchronized (this) {
      if (!active) {
        throw new IllegalStateException("response has its final frame");
      }
      int frameBytes;
      try {
        frameBytes = writer.write(frameArea);
        session.responding(requestId, frameArea, frameBytes);
      } catch (IndexOutOfBoundsException | IllegalStateException e) {
        frameBytes = finishLong(writer);
      }
      active = false;
      eventPending = false;
      reclaim();
      drained = reclaimed == produced;
      SharedMemory.putIntPlain(slot, FRAME_BYTES_OFFSET, frameBytes);
      long nanos = System.nanoTime() - beganNanos;
      SharedMemory.putLongPlain(slot, EXECUTION_NANOS_OFFSET, nanos);
      session.requestTimes().add(nanos);
      SharedMemory.putLongRelease(
          slot, STATUS_OFFSET, ResponseSlotLayout.finishedStatus(requestId));
    }
    publishEvent();
    if (!drained) {
      watch.watchDrained(this);
    }
    session.responseFinished();
  }

  /// Writes a frame that is longer than the slot's area to where the slot then says; its length.
  private int finishLong(FrameWriter writer) {
    UnsafeBuffer frame = new UnsafeBuffer(0, 0);
    int frameBytes = 0;
    for (int room = mailbox.frameAreaBytes(); frameBytes == 0 && room < buffers.maxBatchBytes(); ) {
      room = (int) Math.min(4L * room, buffers.maxBatchBytes());
      frame.wrap(new byte[room]);
      frameBytes = bytesIfItFits(writer, frame);
    }
    Failure failure = frameBytes == 0 ? frameTooLong() : placeLongFrame(frame, frameBytes);
    if (failure != null) {
      frameBytes = failure.encode(frameArea, requestId, 0, 0, TransactionState.NONE);
      frame.wrap(frameArea, 0, frameBytes);
    }
    session.responding(requestId, frame, frameBytes);
    return frameBytes;
  }

  /// Length of the frame; 0 if it is longer than the buffer.
  private static int bytesIfItFits(FrameWriter writer, UnsafeBuffer buffer) {
    try {
      return writer.write(buffer);
    } catch (IndexOutOfBoundsException | IllegalStateException e) {
      return 0;
    }
  }

  private @Nullable Failure placeLongFrame(UnsafeBuffer frame, int frameBytes) {
    int blocks = (frameBytes + buffers.blockBytes() - 1) / buffers.blockBytes();
    int first;
    try {
      first = held.take(blocks);
    } catch (TransportException e) {
      return e.failure();
    }
    if (first < 0) {
      return Failure.of(
          ErrorCode.OUT_OF_MEMORY,
          "no shared memory for an answer of " + frameBytes + " bytes",
          "",
          "Close cursors, or raise \"session_buffers\" of the endpoint.");
    }
    longFrameFirstBlock = first;
    longFrameBlocks = blocks;
    MemorySegment.copy(
        frame.byteArray(), 0, arena.memory(first, blocks), ValueLayout.JAVA_BYTE, 0, frameBytes);
    frameArea.putLong(0, (long) first * buffers.blockBytes(), ByteOrder.LITTLE_ENDIAN);
    return null;
  }

  private void freeLongFrame() {
    held.free(longFrameFirstBlock, longFrameBlocks);
    longFrameBlocks = 0;
  }

  /// Ends the response because its request cannot be understood; no effect when it has ended.
  void finishRefused(String reason) {
    synchronized (this) {
      if (!active) {
        return;
      }
    }
    Failure failure = Failure.of(ErrorCode.MALFORMED_MESSAGE, reason).asFatal();
    finish(buffer -> failure.encode(buffer, requestId, 0, 0, TransactionState.NONE));
  }

  private Failure frameTooLong() {
    return Failure.of(
        ErrorCode.LIMIT_EXCEEDED,
        "response exceeds the longest final frame",
        "A final frame has at most " + buffers.maxBatchBytes() + " bytes.",
        "Raise \"max_batch_bytes\" of the endpoint.");
  }

  /// Frees everything of a session that has ended. No response may be running.
  synchronized void release() {
    for (int entry = 0; entry < ringBlocks.length; entry++) {
      held.free(ringFirstBlock[entry], ringBlocks[entry]);
      ringBlocks[entry] = 0;
    }
    freeLongFrame();
    reclaimed = produced;
  }

  /// Wakes the client if it sleeps. Pairs with its store of `clientSleeping`, fence and re-check of `event`. If several processes read the
  /// response, one wakes, and sees to the others. A process that sets the flag while it is being cleared finds `event` changed.
  private void publishEvent() {
    SharedMemory.incrementInt(slot, EVENT_OFFSET);
    SharedMemory.fullFence();
    if (SharedMemory.getIntAcquire(slot, CLIENT_SLEEPING_OFFSET) != 0) {
      SharedMemory.putIntRelease(slot, CLIENT_SLEEPING_OFFSET, 0);
      SharedMemory.incrementInt(slot, EVENT_OFFSET);
      Futex.wake(slot, EVENT_OFFSET);
    }
  }
}
