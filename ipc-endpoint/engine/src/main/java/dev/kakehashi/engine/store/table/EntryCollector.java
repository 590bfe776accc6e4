package dev.kakehashi.engine.store.table;

import dev.kakehashi.engine.store.index.EntryRun;
import dev.kakehashi.engine.store.index.KeyBuffer;
import dev.kakehashi.engine.store.index.TreeLoad;
import dev.kakehashi.engine.store.memory.ScratchMemory;
import org.jspecify.annotations.Nullable;

/// Collects entries of one index in a run, which is sorted and added when it is full. Confined to one thread.
final class EntryCollector implements AutoCloseable {
  /// Outside of the store's memory, and resident as far as it is used.
  private static final int RUN_BYTES = 8 << 20;

  /// So many entries that came in their order are added at once: sorting costs nothing, and more of them would be in no cache any more.
  private static final int ORDERED_ENTRIES = 1 << 13;

  private final TreeLoad load;
  private @Nullable ScratchMemory memory;
  private @Nullable EntryRun run;
  private TreeLoad.@Nullable Share share;

  EntryCollector(TreeLoad load) {
    this.load = load;
  }

  /// @param entry key with row identifier
  void add(KeyBuffer entry, long rowId) {
    if (!TreeLoad.takes(entry)) {
      load.addLater(rowId);
      return;
    }
    EntryRun present = run;
    if (present == null) {
      ScratchMemory scratch = new ScratchMemory(RUN_BYTES);
      memory = scratch;
      present = new EntryRun(scratch.address(), RUN_BYTES);
      run = present;
    }
    if (!present.add(entry)) {
      flush(present);
      if (!present.add(entry)) {
        throw new AssertionError("an empty run has no room for an entry");
      }
    }
    if (present.count() >= ORDERED_ENTRIES && present.isOrdered()) {
      flush(present);
    }
  }

  private void flush(EntryRun present) {
    TreeLoad.Share into = share;
    if (into == null) {
      into = load.newShare();
      share = into;
    }
    into.add(present);
    present.clear();
  }

  /// Frees the run without what is left in it.
  void discard() {
    if (run != null) {
      run.clear();
    }
    close();
  }

  /// Adds what is left, and frees the run.
  @Override
  public void close() {
    EntryRun present = run;
    ScratchMemory scratch = memory;
    run = null;
    memory = null;
    try {
      if (present != null) {
        flush(present);
      }
    } finally {
      if (scratch != null) {
        scratch.close();
      }
    }
  }
}
