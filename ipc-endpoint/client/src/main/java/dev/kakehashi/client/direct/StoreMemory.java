package dev.kakehashi.client.direct;

import dev.kakehashi.protocol.layout.StoreHeadLayout;
import dev.kakehashi.protocol.layout.StoreIndexLayout;
import dev.kakehashi.transport.os.ReadOnlyMemory;
import dev.kakehashi.transport.os.SharedMemory;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/// The store's memory in this process, which the endpoint has given for reading. Addresses in it are the endpoint's.
///
/// Any thread reads; the owner closes it when none does any more.
public final class StoreMemory implements AutoCloseable {
  private static final long MOST_BYTES = 1L << 46;
  private static final long HEAD_BYTES = StoreHeadLayout.HEAD_BYTES;

  private final Arena arena;
  private final MemorySegment memory;

  /// Address of the memory in the endpoint.
  private final long there;

  /// @param arena that [#close()] closes
  StoreMemory(Arena arena, MemorySegment memory, long there) {
    this.arena = arena;
    this.memory = memory;
    this.there = there;
  }

  /// Maps the memory of a descriptor that came with the answer to Attach.
  ///
  /// @param descriptor stays the caller's, who may close it at once
  /// @return null: it is not a store's, or the system refuses, and there will be no direct reads
  public static @Nullable StoreMemory map(int descriptor) {
    long bytes;
    long there;
    try (Arena once = Arena.ofConfined()) {
      MemorySegment words = ReadOnlyMemory.map(descriptor, HEAD_BYTES, once);
      if (words == null
          || SharedMemory.getLongAcquire(words, StoreHeadLayout.MAGIC_OFFSET)
              != StoreHeadLayout.MAGIC) {
        return null;
      }
      bytes = SharedMemory.getLongOpaque(words, StoreHeadLayout.RESERVED_BYTES_OFFSET);
      there = SharedMemory.getLongOpaque(words, StoreHeadLayout.BASE_OFFSET);
    }
    if (bytes < HEAD_BYTES || bytes > MOST_BYTES || bytes % HEAD_BYTES != 0) {
      return null;
    }
    Arena arena = Arena.ofShared();
    MemorySegment memory = ReadOnlyMemory.map(descriptor, bytes, arena);
    if (memory == null) {
      arena.close();
      return null;
    }
    return new StoreMemory(arena, memory, there);
  }

  /// All of it, of which [#limit()] bytes may be touched.
  MemorySegment memory() {
    return memory;
  }

  /// Address of the first byte in the endpoint: an address less that is an offset.
  long there() {
    return there;
  }

  /// Bytes that may be touched. They only grow.
  long limit() {
    return Math.min(
        SharedMemory.getLongAcquire(memory, StoreHeadLayout.FILE_BYTES_OFFSET), memory.byteSize());
  }

  /// Whether `bytes` bytes from an offset on lie within a limit.
  static boolean fits(long offset, long bytes, long limit) {
    return offset >= 0 && offset <= limit - bytes;
  }

  /// Whether a cell may lie at an offset.
  boolean isCell(long offset) {
    return offset % StoreIndexLayout.CELL_BYTES == 0
        && offset >= HEAD_BYTES
        && fits(offset, StoreIndexLayout.CELL_BYTES, limit());
  }

  /// A word of the head, see [StoreHeadLayout].
  long head(int offset) {
    return SharedMemory.getLongAcquire(memory, offset);
  }

  /// Whether a word is as it was noted, after all that was read meanwhile.
  static boolean isUnchanged(MemorySegment memory, long offset, long noted) {
    SharedMemory.acquireFence();
    return SharedMemory.getLongOpaque(memory, offset) == noted;
  }

  /// Unmaps it; nobody may read afterwards.
  @Override
  public void close() {
    arena.close();
  }
}
