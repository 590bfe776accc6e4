package dev.kakehashi.engine.store.garbage;

import dev.kakehashi.engine.store.index.KeyBuffer;
import dev.kakehashi.engine.store.memory.BlockList;
import dev.kakehashi.engine.store.memory.MemoryPool;
import dev.kakehashi.engine.store.memory.Native;
import dev.kakehashi.engine.store.row.Page;
import dev.kakehashi.engine.store.row.RowLayout;
import dev.kakehashi.engine.store.row.Stamp;
import dev.kakehashi.engine.store.row.TableIndex;
import dev.kakehashi.engine.store.version.Snapshots;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/// What one transaction has left. Filled by its owner, then read by whoever frees; `ready` is written when the rows are stamped.
public final class Garbage {
  /// No commit has overtaken the transaction.
  public static final long NOBODY = Long.MAX_VALUE;

  private long timestamp;
  private Page[] pages = new Page[0];
  private int[] rowSlots = new int[0];
  private long[] undos = new long[0];
  private @Nullable TableRuns<?> tables;
  private int writes;

  /// What is already unreachable.
  private final BlockList blocks = new BlockList();

  /// Index entries that may be superfluous; null: none so far.
  private @Nullable StaleEntries entries;

  /// Things to free as a whole, as dropped tables.
  private @Nullable List<Runnable> actions;

  private volatile boolean ready;

  /// Earliest commit that has overtaken the transaction, see SerializableTransactions. Written before the garbage is queued.
  private long overtakenBy = NOBODY;

  public void overtakenBy(long timestamp) {
    overtakenBy = timestamp;
  }

  public long overtakenBy() {
    return overtakenBy;
  }

  /// Whether a write has locked the row only. For those who keep what was replaced from being freed.
  public boolean isLock(int write) {
    return undos[write] != 0 && RowLayout.isLocked(undos[write]);
  }

  public void setWrites(
      TableRuns<?> tables, Page[] pages, int[] rowSlots, long[] undos, int writes) {
    this.tables = tables;
    this.pages = pages;
    this.rowSlots = rowSlots;
    this.undos = undos;
    this.writes = writes;
  }

  public void addBlock(long address, long bytes) {
    blocks.add(address, bytes);
  }

  public void addEntry(CollectedTable table, TableIndex index, KeyBuffer key) {
    if (entries == null) {
      entries = new StaleEntries();
    }
    entries.add(table, index, key);
  }

  public void addAction(Runnable action) {
    if (actions == null) {
      actions = new ArrayList<>();
    }
    actions.add(action);
  }

  /// Marks what nobody sees, so that it may be taken out of its chain.
  ///
  /// @return whether there is any
  boolean mark(Snapshots snapshots) {
    boolean any = false;
    for (int run = 0; run < runs(); run++) {
      // Of a dropped table the pages may be gone.
      boolean there = !table(run).isDropped();
      for (int i = from(run); there && i < end(run); i++) {
        if (undos[i] != 0 && isUnseen(i, snapshots)) {
          ChainPruner.mark(undos[i]);
          any = true;
        }
      }
    }
    return any;
  }

  private boolean isUnseen(int write, Snapshots snapshots) {
    long stamp = Native.getLong(undos[write] + RowLayout.UNDO_STAMP);
    long made = Stamp.isInFlight(stamp) ? timestamp : Stamp.timestamp(stamp);
    return !snapshots.sees(made, timestamp);
  }

  void prune(ChainPruner pruner, Snapshots snapshots) {
    for (int run = 0; run < runs(); run++) {
      for (int i = from(run); i < end(run); i++) {
        if (undos[i] != 0 && !table(run).isDropped() && isUnseen(i, snapshots)) {
          pruner.prune(table(run), pages[i], rowSlots[i]);
        }
      }
    }
  }

  private int runs() {
    return tables == null ? 0 : tables.count();
  }

  private CollectedTable table(int run) {
    return Objects.requireNonNull(tables).table(run);
  }

  private int from(int run) {
    return Objects.requireNonNull(tables).from(run);
  }

  private int end(int run) {
    return Objects.requireNonNull(tables).end(run, writes);
  }

  /// Forgets what was taken out.
  ///
  /// @return whether nothing is left to be freed
  boolean forgetRemoved() {
    boolean hasEntries = entries != null && !entries.isEmpty();
    boolean left = hasEntries || actions != null || blocks.count() > 0;
    boolean removed = false;
    for (int i = 0; i < writes; i++) {
      if (undos[i] != 0 && ChainPruner.isRemoved(undos[i])) {
        undos[i] = 0;
        removed = true;
      }
      left |= undos[i] != 0;
    }
    return removed && !left;
  }

  public long timestamp() {
    return timestamp;
  }

  public int writes() {
    return writes;
  }

  public Page page(int write) {
    return pages[write];
  }

  public int rowSlot(int write) {
    return rowSlots[write];
  }

  int weight() {
    return 1 + writes + blocks.count();
  }

  /// When it was left, in the order of commits. Written before it is queued.
  void timestamp(long at) {
    timestamp = at;
  }

  /// The transaction has ended and its rows are stamped.
  void ready() {
    ready = true;
  }

  boolean isReady() {
    return ready;
  }

  /// Index entries that may be superfluous; null: none so far.
  @Nullable StaleEntries entries() {
    return entries;
  }

  /// Frees everything.
  ///
  /// @param horizon snapshots from here on may be in use
  void free(MemoryPool pool, long horizon) {
    for (int run = 0; run < runs(); run++) {
      CollectedTable table = table(run);
      for (int i = from(run); i < end(run); i++) {
        if (undos[i] != 0) {
          table.freeReplaced(pages[i], rowSlots[i], undos[i], timestamp, horizon);
        }
      }
    }
    if (entries != null) {
      entries.drop(horizon);
    }
    blocks.free(pool);
    if (actions != null) {
      actions.forEach(Runnable::run);
    }
  }
}
