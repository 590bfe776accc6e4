package dev.kakehashi.engine.store.memory;

/// Blocks of a pool for one thread that needs many: it takes neighbours of a size together, so that it seldom asks for the pool's lock, and
/// no two threads write to the two ends of a line of the processor's cache. Confined to one thread; the blocks are the pool's, and freed
/// there.
public final class PoolShare implements Blocks, AutoCloseable {
  private static final int TAKEN_BYTES = 16 << 10;

  private final MemoryPool pool;

  /// By class: blocks from the first on are left up to the second.
  private final long[] at;

  private final long[] end;

  public PoolShare(MemoryPool pool) {
    this.pool = pool;
    at = new long[pool.classCount()];
    end = new long[at.length];
  }

  @Override
  public long allocate(long bytes) {
    if (bytes > TAKEN_BYTES / 4) {
      return pool.allocate(bytes);
    }
    int index = MemoryPool.classIndex((int) bytes);
    int step = MemoryPool.classBytes(index);
    if (at[index] == end[index]) {
      int count = TAKEN_BYTES / step;
      at[index] = pool.allocateNeighbours(index, count);
      end[index] = at[index] + (long) count * step;
    }
    long address = at[index];
    at[index] = address + step;
    return address;
  }

  /// Gives back what is left.
  @Override
  public void close() {
    for (int i = 0; i < at.length; i++) {
      int step = MemoryPool.classBytes(i);
      for (; at[i] < end[i]; at[i] += step) {
        pool.free(at[i], step);
      }
    }
  }
}
