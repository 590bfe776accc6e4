package dev.kakehashi.client;

import java.lang.foreign.MemorySegment;

/// Buffers of shared memory for bulk parameters: filled here, read by the endpoint without another copy through the queue.
///
/// A buffer may be filled again once the request that named it has ended. Given back with the session, or by [Session#releaseBuffers()].
public final class InboundBuffers {
  private final MemorySegment arena;
  private final long[] offsets;
  private final int bufferBytes;

  InboundBuffers(MemorySegment arena, long[] offsets, int bufferBytes) {
    this.arena = arena;
    this.offsets = offsets.clone();
    this.bufferBytes = bufferBytes;
  }

  public int count() {
    return offsets.length;
  }

  public int bufferBytes() {
    return bufferBytes;
  }

  /// An empty batch of parameters of `statement` in buffer `index`.
  ///
  /// @param meanHeapBytes expected bytes of a row's texts and numerics, each rounded up to 8; decides how many rows get room
  public Parameters parameters(int index, PreparedStatement statement, int meanHeapBytes) {
    return Parameters.inbound(
        statement.parameterTypeOids(), arena.asSlice(offsets[index], bufferBytes), meanHeapBytes);
  }

  /// Where buffer `index` lies in the arena.
  long offset(int index) {
    return offsets[index];
  }

  /// Where a batch made by [#parameters] lies; -1 when it is not in one of these buffers.
  long offsetOf(MemorySegment batch) {
    if (batch.heapBase().isPresent()) {
      return -1;
    }
    long offset = batch.address() - arena.address();
    return offset >= 0 && offset < arena.byteSize() ? offset : -1;
  }
}
