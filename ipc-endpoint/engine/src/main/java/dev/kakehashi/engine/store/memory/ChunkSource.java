package dev.kakehashi.engine.store.memory;

import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/// The memory of a pool, in chunks and in blocks that are larger than any chunk's, and its limit. Thread-safe.
///
/// Chunks come from a [MemoryArea] in regions of address space, which the system fills with pages when they are touched. One that is given
/// back can become anything. Some of these chunks keep their memory, for the next use of a chunk. The system has the memory of the others,
/// and they are chunks without memory until then. Regions stay until the end: a late read, which is found out afterwards, is never outside
/// of them.
///
/// **The limit** has two parts. A sixteenth is the reserve: only callers that make room take of it, as by deleting rows, and only where the
/// other part is full. The reserve is there in any case, also if recovery, which nothing limits, has taken more than the other part.
final class ChunkSource {
  private static final int RESERVE_SHARE = 16;
  private static final long LEAST_RESERVE_BYTES = 2 * Chunk.BYTES;
  private static final long MOST_RESERVE_BYTES = 256 << 20;

  /// Most memory in chunks that nobody uses, of the limit.
  private static final int SPARE_SHARE = 16;

  private final Readers nodeReaders;
  private final MemoryArea area;

  /// All below is guarded by `this`. Address and bytes of every large block.
  private final Map<Long, Long> mappings = new HashMap<>();

  private long limitBytes;
  private boolean limited = true;

  /// Chunks and large blocks in use, without those of the reserve.
  private long usedBytes;

  private long reserveUsedBytes;
  private long largeBytes;

  /// Chunks that nobody uses: with their memory, and without.
  private final LongStack spare = new LongStack();

  private final LongStack released = new LongStack();

  /// Chunks in which a late reader may still read; chunks of the reserve have 1 in the lowest bit. The first ones wait for the grace, the
  /// others for the next one.
  private LongStack waiting = new LongStack();

  private LongStack late = new LongStack();
  private Readers.@Nullable Grace grace;

  private long regionAt;
  private long regionEnd;
  private boolean closed;

  private static final class LongStack {
    private long[] values = new long[16];
    private int size;

    void push(long value) {
      if (size == values.length) {
        values = Arrays.copyOf(values, size * 2);
      }
      values[size++] = value;
    }

    /// 0 when it is empty.
    long pop() {
      return size == 0 ? 0 : values[--size];
    }
  }

  /// @param nodeReaders who may read in a chunk that is given by [#giveLater]
  /// @param area belongs to this from now on
  ChunkSource(long limitBytes, Readers nodeReaders, MemoryArea area) {
    this.limitBytes = limitBytes;
    this.area = area;
    this.nodeReaders = nodeReaders;
  }

  synchronized long limitBytes() {
    return limitBytes;
  }

  synchronized void limit(long bytes) {
    limitBytes = bytes;
  }

  /// Whether the limit counts.
  synchronized void limited(boolean isLimited) {
    limited = isLimited;
  }

  private long reserveBytes() {
    return Math.clamp(limitBytes / RESERVE_SHARE, LEAST_RESERVE_BYTES, MOST_RESERVE_BYTES);
  }

  private long left(boolean ofReserve) {
    if (ofReserve) {
      return reserveBytes() - reserveUsedBytes;
    }
    return limited ? limitBytes - reserveBytes() - usedBytes : Long.MAX_VALUE;
  }

  /// Memory that the system has given, but for the descriptions of chunks (a thousandth).
  synchronized long heldBytes() {
    return held();
  }

  private long held() {
    return usedBytes + reserveUsedBytes + (long) spare.size * Chunk.BYTES;
  }

  /// Bytes in large blocks.
  synchronized long largeBytes() {
    return largeBytes;
  }

  /// A chunk, not zeroed; 0 at the limit.
  synchronized long take(boolean ofReserve) {
    checkOpen();
    if (left(ofReserve) < Chunk.BYTES) {
      leaveLate();
    }
    if (left(ofReserve) < Chunk.BYTES) {
      return 0;
    }
    long chunk = spare.pop();
    if (chunk == 0) {
      chunk = released.pop();
    }
    if (chunk == 0) {
      chunk = next();
    }
    if (ofReserve) {
      reserveUsedBytes += Chunk.BYTES;
    } else {
      usedBytes += Chunk.BYTES;
    }
    return chunk;
  }

  private long next() {
    if (regionAt == regionEnd) {
      long region = area.nextRegion();
      regionAt = region + Chunk.BYTES;
      regionEnd = region + Chunk.REGION_BYTES;
    }
    long chunk = regionAt;
    regionAt += Chunk.BYTES;
    return chunk;
  }

  /// Takes back a chunk that nobody reads any more.
  synchronized void give(long chunk, boolean ofReserve) {
    if (ofReserve) {
      reserveUsedBytes -= Chunk.BYTES;
    } else {
      usedBytes -= Chunk.BYTES;
    }
    spare.push(chunk);
  }

  /// Takes back a chunk when those who are reading in nodes have left.
  synchronized void giveLater(long chunk, boolean ofReserve) {
    waiting.push(ofReserve ? chunk | 1 : chunk);
    leaveLate();
  }

  /// Takes over what nobody can be reading any more.
  ///
  /// @return whether nothing is left of it
  synchronized boolean leaveLate() {
    if (grace != null && grace.isOver()) {
      grace = null;
      giveAll(late);
    }
    if (grace == null && waiting.size > 0) {
      LongStack next = late;
      late = waiting;
      waiting = next;
      grace = nodeReaders.new Grace();
      if (grace.isOver()) {
        grace = null;
        giveAll(late);
      }
    }
    return grace == null;
  }

  private void giveAll(LongStack chunks) {
    // Readers in other processes are nobody who leaves: they find out that they were late.
    area.nodesMove();
    for (long chunk = chunks.pop(); chunk != 0; chunk = chunks.pop()) {
      give(chunk & -2L, (chunk & 1) != 0);
    }
  }

  /// Memory for a block larger than those of chunks; 0 at the limit.
  ///
  /// @param bytes a multiple of 4096
  synchronized long takeLarge(long bytes) {
    checkOpen();
    if (bytes > left(false)) {
      return 0;
    }
    release(limited ? held() + bytes - limitBytes : 0);
    long address = SystemMemory.map(bytes);
    mappings.put(address, bytes);
    usedBytes += bytes;
    largeBytes += bytes;
    return address;
  }

  synchronized void giveLarge(long address) {
    Long bytes = mappings.remove(address);
    if (bytes == null) {
      throw new IllegalArgumentException("no large block at " + Long.toHexString(address));
    }
    usedBytes -= bytes;
    largeBytes -= bytes;
    SystemMemory.unmap(address, bytes);
  }

  /// Gives memory of chunks that nobody uses to the system, if it is much.
  synchronized void trim() {
    release((long) spare.size * Chunk.BYTES - limitBytes / SPARE_SHARE);
  }

  /// Gives memory of chunks that nobody uses to the system, neighbours in one call.
  ///
  /// @param atLeast bytes; less if there is no more
  private void release(long atLeast) {
    int count = (int) Math.min(spare.size, (atLeast + Chunk.BYTES - 1) / Chunk.BYTES);
    if (count <= 0) {
      return;
    }
    // Chunks that were given back first.
    long[] chunks = Arrays.copyOf(spare.values, count);
    System.arraycopy(spare.values, count, spare.values, 0, spare.size - count);
    spare.size -= count;
    Arrays.sort(chunks);
    int to;
    for (int from = 0; from < count; from = to) {
      to = from + 1;
      while (to < count && chunks[to] == chunks[to - 1] + Chunk.BYTES) {
        to++;
      }
      boolean gone = area.release(chunks[from], (long) (to - from) * Chunk.BYTES);
      for (int i = from; i < to; i++) {
        (gone ? released : spare).push(chunks[i]);
      }
    }
  }

  private void checkOpen() {
    if (closed) {
      throw new IllegalStateException("store is closed");
    }
  }

  /// Message of the error for a caller that gets no memory.
  synchronized String describe(long bytes) {
    return "The store uses %d MB of its limit of %d MB, of which %d MB are kept for deletions, and needs %d kB more."
        .formatted(
            (usedBytes + reserveUsedBytes) >> 20,
            limitBytes >> 20,
            reserveBytes() >> 20,
            (bytes + 1023) >> 10);
  }

  synchronized void close() {
    if (closed) {
      return;
    }
    closed = true;
    mappings.forEach(SystemMemory::unmap);
    mappings.clear();
    area.close();
    usedBytes = 0;
    reserveUsedBytes = 0;
    largeBytes = 0;
    spare.size = 0;
    released.size = 0;
    regionAt = 0;
    regionEnd = 0;
  }
}
