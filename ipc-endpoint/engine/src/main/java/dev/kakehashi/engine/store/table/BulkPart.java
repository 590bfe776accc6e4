package dev.kakehashi.engine.store.table;

import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.engine.store.api.BulkInsert;
import dev.kakehashi.engine.store.garbage.WriteLog;
import dev.kakehashi.engine.store.index.KeyBuffer;
import dev.kakehashi.engine.store.memory.PoolShare;
import dev.kakehashi.engine.store.row.Page;
import dev.kakehashi.engine.store.row.RowLayout;
import dev.kakehashi.engine.store.row.RowVersion;
import dev.kakehashi.engine.store.row.Stamp;
import dev.kakehashi.engine.store.row.TableIndex;
import dev.kakehashi.engine.vector.VectorBatch;
import dev.kakehashi.protocol.ErrorCode;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/// Insertions of one task: it fills pages of its own, and collects the entries of each index in runs, which are sorted when they are full.
/// Used by one thread at a time.
final class BulkPart implements BulkInsert.Part {
  private static final TableIndex[] NO_INDEXES = {};

  private final BulkInsertion insertion;
  private final RowTable table;
  private final WriteLog writes = new WriteLog();
  private final PoolShare blocks;
  private final RowVersion version;
  private final long stamp;

  /// Where it inserts now; null before the first row.
  private @Nullable Page page;

  private TableIndex[] indexes = NO_INDEXES;
  private Collected[] collected = {};
  private boolean closed;

  /// Entries of one index.
  private static final class Collected {
    private final BulkIndex index;
    private final EntryCollector keys;
    private @Nullable EntryCollector exempt;

    /// Key of the row that is being inserted.
    final KeyBuffer key = new KeyBuffer(64);

    boolean isExempt;

    Collected(BulkIndex index) {
      this.index = index;
      this.keys = index.newCollector(false);
    }

    void add(long rowId) {
      if (key.length == 0) {
        return;
      }
      key.putLong(rowId);
      if (!isExempt) {
        keys.add(key, rowId);
        return;
      }
      EntryCollector ofExempt = exempt;
      if (ofExempt == null) {
        ofExempt = index.newCollector(true);
        exempt = ofExempt;
      }
      ofExempt.add(key, rowId);
    }

    void discard() {
      keys.discard();
      if (exempt != null) {
        exempt.discard();
      }
    }

    void close() {
      try {
        keys.close();
      } finally {
        if (exempt != null) {
          exempt.close();
        }
      }
    }
  }

  BulkPart(BulkInsertion insertion) {
    this.insertion = insertion;
    this.table = insertion.table;
    this.blocks = new PoolShare(table.pool);
    this.version = new RowVersion(table.form.layout.columns);
    this.stamp = Stamp.lockingKeys(insertion.transaction.stamp(false));
  }

  @Override
  public long insert(VectorBatch values, int row) {
    if (closed) {
      throw new IllegalStateException("the part has ended");
    }
    long rowId;
    try {
      rowId = place(values, row);
    } catch (EngineException refused) {
      if (refused.code() != ErrorCode.OUT_OF_MEMORY) {
        throw refused;
      }
      table.collector.collectForMemory();
      rowId = place(values, row);
    }
    boolean noted = false;
    try {
      for (Collected each : collected) {
        each.add(rowId);
      }
      noted = true;
    } finally {
      if (!noted) {
        insertion.spoil();
      }
    }
    return rowId;
  }

  /// Puts a row into a page. On failure nothing has changed.
  private long place(VectorBatch values, int row) {
    writes.reserve();
    Arrays.fill(version.words, 0);
    Page into;
    try {
      table.writer.copyIn(values, row, version, null, blocks);
      into = latchRoom();
    } catch (RuntimeException e) {
      table.writer.freeCopies(version, null);
      throw e;
    }
    RowLayout layout = table.form.layout;
    int slot = into.claim();
    for (int c = 0; c < layout.columns; c++) {
      into.setWord(c, slot, version.words[c], version.nulls[c]);
    }
    into.setUndo(slot, 0);
    into.setStamp(slot, stamp);
    into.setLive(slot, true);
    into.inFlight++;
    into.unlatch();
    writes.add(into, slot, 0);
    return into.rowId(slot);
  }

  /// A latched page with room for the version, whose keys have been made for the indexes that there are.
  @SuppressWarnings("ReferenceEquality") // the same array
  private Page latchRoom() {
    while (true) {
      encodeKeys();
      Page present = page;
      if (present == null) {
        present = table.pages.takeRoom();
        page = present;
      }
      present.latch();
      boolean ready = false;
      try {
        if (table.form.indexes() == indexes && present.hasRoom()) {
          present.makeRoomFor(version);
          present.makeRoomForReuse();
          ready = true;
          return present;
        }
        if (!present.hasRoom()) {
          page = null;
        }
      } finally {
        if (!ready) {
          present.unlatch();
        }
      }
    }
  }

  @SuppressWarnings("ReferenceEquality") // the same array
  private void encodeKeys() {
    TableIndex[] present = table.form.indexes();
    if (present != indexes) {
      endRuns();
      collected = new Collected[present.length];
      for (int i = 0; i < present.length; i++) {
        collected[i] = new Collected(insertion.index(present[i]));
      }
      indexes = present;
    }
    for (int i = 0; i < collected.length; i++) {
      Collected each = collected[i];
      each.isExempt = indexes[i].encode(version, each.key);
      indexes[i].checkLength(each.key);
    }
  }

  private void endRuns() {
    Collected[] ended = collected;
    collected = new Collected[0];
    indexes = NO_INDEXES;
    RuntimeException failure = null;
    for (Collected each : ended) {
      try {
        each.close();
      } catch (RuntimeException e) {
        insertion.spoil();
        failure = e;
      }
    }
    if (failure != null) {
      throw failure;
    }
  }

  @Override
  public void close() {
    if (closed) {
      return;
    }
    closed = true;
    blocks.close();
    Page last = page;
    page = null;
    if (last != null) {
      table.pages.offerRoom(last);
    }
    endRuns();
  }

  /// Closes it without its entries.
  void discard() {
    Collected[] ended = collected;
    collected = new Collected[0];
    for (Collected each : ended) {
      each.discard();
    }
    close();
  }

  /// Its writes, once it is closed.
  WriteLog takeWrites() {
    return writes;
  }
}
