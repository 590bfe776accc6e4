package dev.kakehashi.engine.store.memory;

import java.lang.invoke.VarHandle;
import java.util.concurrent.atomic.AtomicLongArray;

/// Threads that follow pointers to native memory right now without a latch. Their count lets a writer take a piece of memory out of a
/// structure that others are reading, and give it another use.
///
/// Chains of old versions have one of their own, so that the collector can take a version out of the middle of a chain that a long reader
/// still uses: a transaction protects the versions that it can see, but on its way to them it passes others. The nodes of all indexes of a
/// pool have another ([MemoryPool#nodeReaders()]). A reader enters first and leaves afterwards, on the same thread or not, and never waits
/// for anything in between. A writer that has unlinked memory frees it when it has seen every cell at zero since then.
///
/// **Why that suffices.** A reader counts itself in (atomic, full fence) and then reads pointers; the writer changes pointers (full fence)
/// and then reads the cell. If it reads zero, either the reader has left, or it counts itself in later and finds the changed pointers. Each
/// cell may be seen at zero at a moment of its own, because a later reader cannot find the unlinked memory.
public final class Readers {
  private static final int CELLS = 64;

  /// One cache line for each.
  private static final int STRIDE = 8;

  private final AtomicLongArray counts = new AtomicLongArray(CELLS * STRIDE);

  /// From now on nothing that can be reached is freed.
  ///
  /// @return what to give to [#leave]
  public int enter() {
    int cell = (int) (Thread.currentThread().threadId() & (CELLS - 1));
    counts.getAndIncrement(cell * STRIDE);
    VarHandle.fullFence();
    return cell;
  }

  public void leave(int cell) {
    counts.getAndDecrement(cell * STRIDE);
  }

  /// Waits, without blocking, for those who were there when it began.
  public final class Grace {
    private long seen;

    public Grace() {
      VarHandle.fullFence();
    }

    /// Whether all of them have left.
    public boolean isOver() {
      for (int cell = 0; cell < CELLS; cell++) {
        if ((seen >>> cell & 1) == 0 && counts.get(cell * STRIDE) == 0) {
          seen |= 1L << cell;
        }
      }
      return seen == -1L;
    }
  }
}
