package dev.kakehashi.engine.store.recovery;

import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.engine.store.index.EntryRun;
import dev.kakehashi.engine.store.index.KeyBuffer;
import dev.kakehashi.engine.store.index.TreeLoad;
import dev.kakehashi.engine.store.log.DurableLog;
import dev.kakehashi.engine.store.log.StoreKeys;
import dev.kakehashi.engine.store.memory.MemoryPool;
import dev.kakehashi.engine.store.memory.NativeInput;
import dev.kakehashi.engine.store.memory.PoolShare;
import dev.kakehashi.engine.store.memory.ScratchMemory;
import dev.kakehashi.engine.store.row.Page;
import dev.kakehashi.engine.store.row.RowVersion;
import dev.kakehashi.engine.store.row.Stamp;
import dev.kakehashi.engine.store.row.TableIndex;
import dev.kakehashi.engine.store.table.RowTable;
import dev.kakehashi.protocol.ErrorCode;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/// One thread's part of recovery: reads rows of the durable image into pages, and makes their index entries while it has them at hand.
///
/// Index entries are collected and sorted, many thousands at a time, and the indexes built of these runs at the end (see [TreeLoad]):
/// entered as they come, each one of an index whose keys are in another order than the rows waits for memory on every level of the tree,
/// which took ten times as long as reading the row. Confined to one thread; different loaders work on different pages, and add to the same
/// indexes at the same time.
final class RowLoader implements AutoCloseable {
  /// So many entries that came in their order are added at once: sorting costs nothing, and more of them would be in no cache any more.
  private static final int ORDERED_ENTRIES = 1 << 13;

  /// Has room for some entries of any size.
  private static final int MIN_RUN_BYTES = 32 << 10;

  private final DurableLog log;
  private final Map<TableIndex, TreeLoad> loads;
  private final PoolShare blocks;
  private ScratchMemory scratch;
  private final KeyBuffer key = new KeyBuffer(64);

  private @Nullable RowTable table;
  private TableIndex[] indexes = {};
  private EntryRun[] runs = {};
  private TreeLoad.Share[] shares = {};
  private RowVersion version = new RowVersion(0);
  private @Nullable Page page;

  /// @param pool of the tables
  /// @param loads of all indexes; not changed meanwhile
  /// @param scratchBytes for entries that are collected
  RowLoader(DurableLog log, MemoryPool pool, Map<TableIndex, TreeLoad> loads, long scratchBytes) {
    this.log = log;
    this.blocks = new PoolShare(pool);
    this.loads = loads;
    this.scratch = new ScratchMemory(scratchBytes);
  }

  /// Loads the rows `[from, to)`, all those of their pages.
  void load(RowTable of, long from, long to) {
    if (table != of) {
      finish();
      begin(of);
    }
    long[] count = {0};
    log.read(
        StoreKeys.row(of.tableId(), from),
        StoreKeys.row(of.tableId(), to),
        (rowKey, value) -> {
          if (rowKey.remaining() != StoreKeys.ROW_KEY_BYTES) {
            throw corrupted(
                "a row of table %d has a key of %d bytes"
                    .formatted(of.tableId(), rowKey.remaining()));
          }
          loadRow(of, rowKey.longAt(9), value);
          count[0]++;
        });
    of.addRowCount(count[0]);
  }

  private void begin(RowTable of) {
    table = of;
    page = null;
    version = new RowVersion(of.form.layout.columns);
    indexes = of.form.indexes();
    runs = new EntryRun[indexes.length];
    shares = new TreeLoad.Share[indexes.length];
    long least = (long) MIN_RUN_BYTES * runs.length;
    if (scratch.bytes() < least) {
      scratch.close();
      scratch = new ScratchMemory(least);
    }
    // Multiples of 8, as the beginning is.
    long share = scratch.bytes() / Math.max(1, runs.length) & -8L;
    for (int i = 0; i < runs.length; i++) {
      runs[i] = new EntryRun(scratch.address() + i * share, (int) share);
      shares[i] = Objects.requireNonNull(loads.get(indexes[i])).newShare();
    }
  }

  /// A page is filled by one thread, which needs no latch; the end of all loaders publishes them.
  private void loadRow(RowTable of, long rowId, NativeInput value) {
    int slot = Page.slotOf(rowId);
    if (rowId < 0 || slot >= of.form.layout.rows) {
      throw corrupted("table %d has row %d".formatted(of.tableId(), rowId));
    }
    Page present = page;
    if (present == null || present.number != rowId >>> Page.SLOT_BITS) {
      present = of.pages.pageForRecovery(rowId >>> Page.SLOT_BITS);
      page = present;
    }
    of.form.decode(value, blocks, version);
    present.makeRoomFor(version);
    present.claim(slot);
    for (int c = 0; c < version.words.length; c++) {
      present.setWord(c, slot, version.words[c], version.nulls[c]);
    }
    present.setUndo(slot, 0);
    present.setStamp(slot, Stamp.FIRST_TIMESTAMP);
    present.setLive(slot, true);
    present.lastCommit = Stamp.FIRST_TIMESTAMP;
    for (int i = 0; i < indexes.length; i++) {
      indexes[i].encode(version, key);
      if (key.length > 0) {
        indexes[i].complete(key, rowId);
        if (TreeLoad.takes(key)) {
          collect(i);
        } else {
          Objects.requireNonNull(loads.get(indexes[i])).addLater(rowId);
        }
      }
    }
  }

  private static EngineException corrupted(String what) {
    return new EngineException(ErrorCode.DATA_CORRUPTED, "store is corrupted: " + what);
  }

  private void collect(int index) {
    EntryRun run = runs[index];
    if (!run.add(key)) {
      add(index);
      if (!run.add(key)) {
        throw new AssertionError("an empty run has no room for an entry");
      }
    }
    if (run.count() >= ORDERED_ENTRIES && run.isOrdered()) {
      add(index);
    }
  }

  private void add(int index) {
    shares[index].add(runs[index]);
    runs[index].clear();
  }

  /// Adds what has been collected.
  void finish() {
    for (int i = 0; i < runs.length; i++) {
      add(i);
    }
  }

  @Override
  public void close() {
    blocks.close();
    scratch.close();
  }
}
