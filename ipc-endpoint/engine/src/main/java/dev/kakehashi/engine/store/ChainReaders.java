package dev.kakehashi.engine.store;

import java.lang.invoke.VarHandle;
import java.util.concurrent.atomic.AtomicLongArray;

/// Who walks chains of old versions right now: what lets the collector take a version out of the middle of a chain that a long reader still uses.
///
/// A transaction protects the versions that it can see; on its way to them it passes others. Whoever does enters first and leaves afterwards, on the same thread or not,
/// and never waits for anything in between. The collector unlinks, and frees what it has unlinked when it has seen every cell at zero since then.
///
/// **Why that suffices.** A reader counts itself in (atomic, full fence) and then reads pointers; the collector changes pointers (full fence) and then reads the cell. If the
/// collector reads zero, either the reader has left, or it counts itself in later and finds the changed pointers. Each cell may be seen at zero at a
/// moment of its own, because who comes later cannot find what was unlinked.
final class ChainReaders {
  private static final int CELLS = 64;

  /// One cache line for each.
  private static final int STRIDE = 8;

  private final AtomicLongArray counts = new AtomicLongArray(CELLS * STRIDE);

  /// From now on nothing that can be reached is freed.
  ///
  /// @return what to give to [#leave]
  int enter() {
    int cell = (int) (Thread.currentThread().threadId() & (CELLS - 1));
    counts.getAndIncrement(cell * STRIDE);
    VarHandle.fullFence();
    return cell;
  }

  void leave(int cell) {
    counts.getAndDecrement(cell * STRIDE);
  }

  /// Waits, without blocking, for those who were there when it began.
  final class Grace {
    private long seen;

    Grace() {
      VarHandle.fullFence();
    }

    /// Whether all of them have left.
    boolean isOver() {
      for (int cell = 0; cell < CELLS; cell++) {
        if ((seen >>> cell & 1) == 0 && counts.get(cell * STRIDE) == 0) {
          seen |= 1L << cell;
        }
      }
      return seen == -1L;
    }
  }
}
