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
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/// Garbage of one transaction. Filled by its owner, then read by the thread that frees; `ready` is written when the rows are stamped.
public final class Garbage {
  /// No commit has overtaken the transaction.
  public static final long NOBODY = Long.MAX_VALUE;

  private long timestamp;
  private @Nullable WriteLog log;
  private @Nullable TableRuns<?> tables;

  /// Blocks that are already unreachable.
  private final BlockList blocks = new BlockList();

  /// Index entries that may be superfluous; null: none so far.
  private @Nullable StaleEntries entries;

  /// Things to free as a whole, as dropped tables.
  private @Nullable List<Runnable> actions;

  /// Actions that wait for no timestamp, above all for slots of inserts that were taken back; null: there never was any. Each gets the
  /// garbage that it is of. Guarded by the collector's lock as soon as this garbage is ready.
  private @Nullable ArrayDeque<Consumer<Garbage>> retracted;

  /// The [#weight()] when it became ready.
  private int weightWhenReady;

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
    long undo = log().undo(write);
    return undo != 0 && RowLayout.isLocked(undo);
  }

  public void setWrites(TableRuns<?> ofTables, WriteLog writes) {
    tables = ofTables;
    log = writes;
  }

  private WriteLog log() {
    return Objects.requireNonNull(log);
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

  /// Notes inserts of the transaction that were taken back. See [GarbageCollector] for what is left to do.
  ///
  /// @param withEntries whether they may have entries in indexes
  public void addRetracted(CollectedTable table, WriteLog.Inserts inserts, boolean withEntries) {
    addUnseen(of -> table.vacate(inserts, withEntries, of));
  }

  /// Notes something to be done that waits for no timestamp, because nobody else has ever seen what it frees.
  public void addUnseen(Consumer<Garbage> action) {
    if (retracted == null) {
      retracted = new ArrayDeque<>();
    }
    retracted.add(action);
  }

  /// Inserts that were taken back so far, as garbage of their own; null: there are none. Before it is queued.
  public @Nullable Garbage takeRetracted() {
    if (retracted == null) {
      return null;
    }
    Garbage taken = new Garbage();
    taken.retracted = retracted;
    retracted = null;
    return taken;
  }

  /// Whether slots have to be freed, or had to be.
  boolean hasRetracted() {
    return retracted != null;
  }

  /// Whether no slots have to be freed any more.
  boolean isVacated() {
    return retracted == null || retracted.isEmpty();
  }

  /// Whether tables or indexes are freed as a whole.
  boolean hasActions() {
    return actions != null;
  }

  /// Frees some slots. The caller has the collector's lock.
  void vacateSome() {
    Consumer<Garbage> next = retracted == null ? null : retracted.poll();
    if (next != null) {
      next.accept(this);
    }
  }

  /// Marks what nobody sees, so that it may be taken out of its chain.
  ///
  /// @return whether there is any
  boolean mark(Snapshots snapshots) {
    boolean any = false;
    for (int run = 0; run < runs(); run++) {
      // The pages of a dropped table may be gone.
      boolean there = !table(run).isDropped();
      WriteLog.Cursor write = writesOf(run);
      while (there && write.next()) {
        if (write.undo() != 0 && isUnseen(write.undo(), snapshots)) {
          ChainPruner.mark(write.undo());
          any = true;
        }
      }
    }
    return any;
  }

  private boolean isUnseen(long undo, Snapshots snapshots) {
    long stamp = Native.getLong(undo + RowLayout.UNDO_STAMP);
    long made = Stamp.isInFlight(stamp) ? timestamp : Stamp.timestamp(stamp);
    return !snapshots.sees(made, timestamp);
  }

  void prune(ChainPruner pruner, Snapshots snapshots) {
    for (int run = 0; run < runs(); run++) {
      WriteLog.Cursor write = writesOf(run);
      while (write.next()) {
        if (write.undo() != 0 && !table(run).isDropped() && isUnseen(write.undo(), snapshots)) {
          pruner.prune(table(run), write.page(), write.rowSlot());
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

  private WriteLog.Cursor writesOf(int run) {
    TableRuns<?> of = Objects.requireNonNull(tables);
    return log().cursor(of.from(run), of.end(run, log().size()));
  }

  /// Forgets what was taken out.
  ///
  /// @return whether nothing is left to be freed
  boolean forgetRemoved() {
    boolean hasEntries = entries != null && !entries.isEmpty();
    boolean left = hasEntries || actions != null || blocks.count() > 0;
    boolean removed = false;
    if (log != null) {
      WriteLog.Cursor write = log.cursor();
      while (write.next()) {
        if (write.undo() != 0 && ChainPruner.isRemoved(write.undo())) {
          write.clearUndo();
          removed = true;
        }
        left |= write.undo() != 0;
      }
    }
    return removed && !left;
  }

  public long timestamp() {
    return timestamp;
  }

  public int writes() {
    return log == null ? 0 : log.size();
  }

  public Page page(int write) {
    return log().page(write);
  }

  public int rowSlot(int write) {
    return log().rowSlot(write);
  }

  /// How much there is to do. Freeing slots does not change it.
  int weight() {
    return ready ? weightWhenReady : 1 + writes() + blocks.count();
  }

  /// When it was left, in the order of commits. Written before it is queued.
  void timestamp(long at) {
    timestamp = at;
  }

  /// The transaction has ended and its rows are stamped.
  void ready() {
    weightWhenReady = weight();
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
      WriteLog.Cursor write = writesOf(run);
      while (write.next()) {
        if (write.undo() != 0) {
          table.freeReplaced(write.page(), write.rowSlot(), write.undo(), timestamp, horizon);
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
