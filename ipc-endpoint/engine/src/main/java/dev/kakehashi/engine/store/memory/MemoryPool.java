package dev.kakehashi.engine.store.memory;

import dev.kakehashi.engine.api.EngineException;
import dev.kakehashi.protocol.ErrorCode;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;

/// All native memory of one store: pages, index nodes, undo records and values. Thread-safe.
///
/// Memory comes from the system in regions of address space, which the system fills with pages when they are touched. Regions are
/// cut into slabs; a slab belongs to one size class for ever, and freed blocks go to the free list of their class. Blocks larger than the largest class
/// are mapped and unmapped one by one. So memory freed by one class does not help another: the price for an allocation without a search, and
/// what makes index nodes type-stable (see [#allocateNode()]).
///
/// Pages of rows go back to the system when they are freed: their addresses wait to be pages again, their memory is the system's and not counted until then. So what a
/// dropped table leaves can become anything.
///
/// Nothing is given back while it might be read: who frees vouches for that. The limit counts slabs, not live bytes.
public final class MemoryPool implements Blocks, AutoCloseable {
  /// Bytes of a page of rows.
  public static final int PAGE_BYTES = 64 << 10;

  /// Bytes of a node of an index.
  public static final int NODE_BYTES = 8 << 10;

  private static final long REGION_BYTES = 64 << 20;
  private static final int STEP = 16;
  private static final int LINEAR_LIMIT = 128;
  private static final int LARGEST_CLASS = 32 << 10;
  private static final long FIRST_SLAB_BYTES = 64 << 10;
  private static final long MAX_SLAB_BYTES = 1 << 20;

  private final long limitBytes;
  private final SizeClass[] classes = new SizeClass[LINEAR_LIMIT / STEP + 32];
  private final SizeClass pages;
  private final SizeClass nodes;

  /// Addresses of pages whose memory the system has; guarded by `released`.
  private final LongStack released = new LongStack();

  /// Guarded by `this`: address and bytes of every mapping.
  private final Map<Long, Long> mappings = new HashMap<>();

  private long regionAt;
  private long regionEnd;
  private long reservedBytes;
  private boolean closed;

  public MemoryPool(long limitBytes) {
    this.limitBytes = limitBytes;
    for (int i = 0; i < classes.length; i++) {
      classes[i] = new SizeClass(classBytes(i), 0);
    }
    if (classes[classes.length - 1].bytes != LARGEST_CLASS) {
      throw new AssertionError("size classes do not end at " + LARGEST_CLASS);
    }
    pages = new SizeClass(PAGE_BYTES, 0);
    nodes = new SizeClass(NODE_BYTES, 8);
  }

  @Override
  public long allocate(long bytes) {
    if (bytes > LARGEST_CLASS) {
      return allocateLarge(bytes);
    }
    return classes[classIndex((int) bytes)].allocate();
  }

  int classCount() {
    return classes.length;
  }

  /// The first of `count` blocks of a class that lie side by side, together not more than the smallest slab.
  long allocateNeighbours(int index, int count) {
    return classes[index].allocate(count);
  }

  /// Frees a block.
  ///
  /// @param bytes what it was allocated with
  public void free(long address, long bytes) {
    if (bytes > LARGEST_CLASS) {
      freeLarge(address);
    } else {
      classes[classIndex((int) bytes)].free(address);
    }
  }

  /// A page of [#PAGE_BYTES], not zeroed.
  public long allocatePage() {
    long address;
    synchronized (released) {
      address = released.pop();
    }
    if (address == 0) {
      return pages.allocate();
    }
    boolean counted = false;
    try {
      reserveAgain();
      counted = true;
      return address;
    } finally {
      if (!counted) {
        synchronized (released) {
          released.push(address);
        }
      }
    }
  }

  private synchronized void reserveAgain() {
    reserve(PAGE_BYTES);
  }

  /// Frees pages and gives their memory to the system, neighbours in one call.
  public void freePages(long[] addresses) {
    long[] sorted = addresses.clone();
    Arrays.sort(sorted);
    int from = 0;
    while (from < sorted.length) {
      int to = from + 1;
      while (to < sorted.length && sorted[to] == sorted[to - 1] + PAGE_BYTES) {
        to++;
      }
      release(sorted, from, to);
      from = to;
    }
  }

  private void release(long[] sorted, int from, int to) {
    long bytes = (long) (to - from) * PAGE_BYTES;
    if (!SystemMemory.release(sorted[from], bytes)) {
      for (int i = from; i < to; i++) {
        pages.free(sorted[i]);
      }
      return;
    }
    synchronized (this) {
      reservedBytes -= bytes;
    }
    synchronized (released) {
      for (int i = to - 1; i >= from; i--) {
        released.push(sorted[i]);
      }
    }
  }

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

  /// A node of [#NODE_BYTES]. Its memory never becomes anything but a node and its first word survives free and allocate (0 at first), so an
  /// optimistic reader that is late reads a version number there, whatever happened.
  public long allocateNode() {
    return nodes.allocate();
  }

  public void freeNode(long address) {
    nodes.free(address);
  }

  /// Bytes counted against the limit.
  public synchronized long reservedBytes() {
    return reservedBytes;
  }

  public long limitBytes() {
    return limitBytes;
  }

  /// Returns all memory to the system. Nobody may read it any more.
  @Override
  public synchronized void close() {
    closed = true;
    mappings.forEach(SystemMemory::unmap);
    mappings.clear();
    regionAt = 0;
    regionEnd = 0;
    reservedBytes = 0;
  }

  static int classIndex(int bytes) {
    if (bytes <= LINEAR_LIMIT) {
      return Math.max(0, (bytes - 1) / STEP);
    }
    // Four classes per doubling: the two bits below the leading one choose among them.
    int shift = 29 - Integer.numberOfLeadingZeros(bytes - 1);
    return LINEAR_LIMIT / STEP + (shift - 5) * 4 + (((bytes - 1) >>> shift) & 3);
  }

  static int classBytes(int index) {
    int linear = LINEAR_LIMIT / STEP;
    if (index < linear) {
      return (index + 1) * STEP;
    }
    int quarter = (LINEAR_LIMIT / 4) << ((index - linear) / 4);
    return quarter * (5 + (index - linear) % 4);
  }

  private synchronized long allocateLarge(long bytes) {
    long size = (bytes + 4095) & ~4095L;
    reserve(size);
    long address = SystemMemory.map(size);
    mappings.put(address, size);
    return address;
  }

  private synchronized void freeLarge(long address) {
    Long size = mappings.remove(address);
    if (size == null) {
      throw new IllegalArgumentException("no large block at " + Long.toHexString(address));
    }
    reservedBytes -= size;
    SystemMemory.unmap(address, size);
  }

  private synchronized long slab(long bytes) {
    reserve(bytes);
    if (regionEnd - regionAt < bytes) {
      regionAt = SystemMemory.mapHuge(REGION_BYTES);
      regionEnd = regionAt + REGION_BYTES;
      mappings.put(regionAt, REGION_BYTES);
    }
    long address = regionAt;
    regionAt += bytes;
    return address;
  }

  private void reserve(long bytes) {
    if (closed) {
      throw new IllegalStateException("store is closed");
    }
    if (bytes > limitBytes - reservedBytes) {
      throw new EngineException(ErrorCode.OUT_OF_MEMORY, "store is out of memory")
          .withDetail(
              "The store holds %d MB of its limit of %d MB and needs %d KB more."
                  .formatted(reservedBytes >> 20, limitBytes >> 20, bytes >> 10))
          .withHint(
              "Raise the store's memory limit, delete rows, or end transactions that keep old versions alive.");
    }
    reservedBytes += bytes;
  }

  /// Blocks of one size. Free blocks form a list through their word at `linkOffset`.
  private final class SizeClass {
    private final int bytes;
    private final int linkOffset;
    private long free;
    private long at;
    private long end;
    private long slabBytes = FIRST_SLAB_BYTES;

    SizeClass(int bytes, int linkOffset) {
      this.bytes = bytes;
      this.linkOffset = linkOffset;
    }

    synchronized long allocate() {
      if (free != 0) {
        long address = free;
        free = Native.getLong(address + linkOffset);
        return address;
      }
      return allocate(1);
    }

    synchronized long allocate(int count) {
      if (end - at < (long) count * bytes) {
        while (end - at >= bytes) {
          free(at);
          at += bytes;
        }
        // The first slab is small: a store with many small tables stays small.
        at = slab(slabBytes);
        end = at + slabBytes;
        slabBytes = Math.min(MAX_SLAB_BYTES, slabBytes * 4);
      }
      long address = at;
      at += (long) count * bytes;
      return address;
    }

    synchronized void free(long address) {
      Native.putLong(address + linkOffset, free);
      free = address;
    }
  }
}
