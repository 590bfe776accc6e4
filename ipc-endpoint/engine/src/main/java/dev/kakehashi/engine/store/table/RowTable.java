package dev.kakehashi.engine.store.table;

import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.engine.store.api.BulkInsert;
import dev.kakehashi.engine.store.api.CommandView;
import dev.kakehashi.engine.store.api.IndexParts;
import dev.kakehashi.engine.store.api.KeyRange;
import dev.kakehashi.engine.store.api.LockStrength;
import dev.kakehashi.engine.store.api.OwnChange;
import dev.kakehashi.engine.store.api.PageCursor;
import dev.kakehashi.engine.store.api.ReadView;
import dev.kakehashi.engine.store.api.RowCursor;
import dev.kakehashi.engine.store.api.SharedIndex;
import dev.kakehashi.engine.store.api.StoreTransaction;
import dev.kakehashi.engine.store.api.TableDefinition;
import dev.kakehashi.engine.store.api.TableStore;
import dev.kakehashi.engine.store.garbage.CollectedTable;
import dev.kakehashi.engine.store.garbage.Garbage;
import dev.kakehashi.engine.store.garbage.GarbageCollector;
import dev.kakehashi.engine.store.garbage.WriteLog;
import dev.kakehashi.engine.store.index.KeyBuffer;
import dev.kakehashi.engine.store.memory.MemoryPool;
import dev.kakehashi.engine.store.memory.StoreHead;
import dev.kakehashi.engine.store.row.Page;
import dev.kakehashi.engine.store.row.PageList;
import dev.kakehashi.engine.store.row.RowIdentity;
import dev.kakehashi.engine.store.row.RowLayout;
import dev.kakehashi.engine.store.row.RowVersion;
import dev.kakehashi.engine.store.row.TableForm;
import dev.kakehashi.engine.store.row.TableIndex;
import dev.kakehashi.engine.store.version.ReadSet;
import dev.kakehashi.engine.store.version.RowReader;
import dev.kakehashi.engine.store.version.StoreParts;
import dev.kakehashi.engine.vector.VectorBatch;
import dev.kakehashi.protocol.ErrorCode;
import java.util.List;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.LongAdder;
import org.jspecify.annotations.Nullable;

/// A table: its form, its pages, and what is done with its rows.
public final class RowTable implements TableStore, CollectedTable {
  final StoreParts store;
  final GarbageCollector collector;
  public final MemoryPool pool;
  public final TableForm form;
  final RowWriter writer;
  private final RowUndo changes;
  private final RowReplay replay;
  final IndexEntries entries;
  public final PageList pages;
  final RowLocker locker = new RowLocker(this);
  private volatile boolean dropped;

  /// When a standby has got it; 0: at its start.
  private volatile long madeAt;

  private final LongAdder rowCount = new LongAdder();
  private final LongAdder changeCount = new LongAdder();

  /// See [RowIdentity].
  private final int salt = ThreadLocalRandom.current().nextInt();

  RowTable(StoreParts store, GarbageCollector collector, TableDefinition definition) {
    this.store = store;
    this.collector = collector;
    this.pool = store.pool();
    this.form = new TableForm(definition, pool);
    this.pages = new PageList(form);
    this.entries = new IndexEntries(this);
    this.writer = new RowWriter(this);
    this.changes = new RowUndo(this);
    this.replay = new RowReplay(this, writer);
  }

  @Override
  public TableDefinition definition() {
    return form.definition();
  }

  /// See [dev.kakehashi.engine.store.api.Store#madeAt].
  public long madeAt() {
    return madeAt;
  }

  /// Before anybody else has it.
  public void madeAt(long timestamp) {
    madeAt = timestamp;
  }

  public long tableId() {
    return form.tableId();
  }

  @Override
  public long rowCount() {
    return Math.max(0, rowCount.sum());
  }

  public void addRowCount(long count) {
    rowCount.add(count);
  }

  @Override
  public long changeCount() {
    return changeCount.sum();
  }

  public void addChanges(long count) {
    changeCount.add(count);
  }

  @Override
  public long pageCount() {
    return pages.count();
  }

  @Override
  public @Nullable Page page(long number) {
    return pages.page(number);
  }

  /// @throws IllegalArgumentException if there never was a row there
  Page pageOf(long rowId) {
    Page page = page(rowId >>> Page.SLOT_BITS);
    if (page == null) {
      throw new IllegalArgumentException("table %d has no row %d".formatted(tableId(), rowId));
    }
    return page;
  }

  // ---- reading ----

  @Override
  public PageCursor scan(
      ReadView view, long firstPage, long endPage, int[] columns, boolean withRowIds) {
    noteRead(view);
    return new ScanCursor(this, view, firstPage, endPage, form.stored(columns), withRowIds);
  }

  @Override
  public RowCursor sample(ReadView view, double fraction, long seed, int[] columns) {
    noteRead(view);
    return fraction < 1
        ? new SampleCursor(this, view, fraction, seed, form.stored(columns))
        : new ScanCursor(this, view, 0, pageCount(), form.stored(columns), false);
  }

  /// A serializable transaction depends on all of the table.
  @Override
  public void noteRead(ReadView view) {
    ReadSet reads = store.readSet(view);
    if (reads != null) {
      reads.addTable(tableId());
    }
  }

  @Override
  public boolean covers(int index, VectorBatch batch, int row) {
    return form.indexes()[index].covers(batch, row);
  }

  @Override
  public RowCursor indexScan(
      ReadView view,
      int index,
      KeyRange range,
      boolean reverse,
      int[] columns,
      boolean withRowIds,
      @Nullable RowCursor closed) {
    IndexCursor cursor = IndexCursor.of(store, closed);
    cursor.open(this, view, index(index), range, reverse, columns, withRowIds);
    return cursor;
  }

  @Override
  public IndexParts divide(int index, KeyRange range, int most) {
    return DividedRange.of(this, index(index), range, most);
  }

  private TableIndex index(int position) {
    TableIndex[] present = form.indexes();
    if (position < 0 || position >= present.length) {
      throw new IllegalArgumentException("table %d has no index %d".formatted(tableId(), position));
    }
    return present[position];
  }

  @Override
  public boolean read(ReadView view, long rowId, int[] columns, VectorBatch to) {
    to.reset();
    Page page = page(rowId >>> Page.SLOT_BITS);
    int[] wanted = form.stored(columns);
    if (page == null) {
      return false;
    }
    RowVersion version = new RowVersion(form.layout.columns);
    RowReader reader = new RowReader(store, view);
    boolean found = reader.read(page, Page.slotOf(rowId), version, wanted);
    reader.end();
    if (!found) {
      return false;
    }
    version.appendTo(to, form.layout, wanted);
    return true;
  }

  @Override
  public long identity(long rowId) {
    return RowIdentity.of(rowId, pageOf(rowId).reuses(Page.slotOf(rowId)), salt);
  }

  @Override
  public RowCursor identityScan(ReadView view, long identity, int[] columns) {
    noteRead(view);
    return new IdentityCursor(this, view, identity, form.stored(columns));
  }

  @Override
  public OwnChange ownChange(ReadView view, long rowId) {
    return view instanceof CommandView hiding
        ? RowReader.ownChange(pageOf(rowId), Page.slotOf(rowId), hiding)
        : OwnChange.NONE;
  }

  @Override
  public @Nullable SharedIndex shared(int index) {
    StoreHead head = pool.head();
    if (head == null || dropped) {
      return null;
    }
    // The generations first: a form that is of a later one is refused by them.
    long indexCell = index(index).tree.cell();
    long tableGeneration = StoreHead.generation(pages.cell());
    long indexGeneration = StoreHead.generation(indexCell);
    if (!StoreHead.isComplete(tableGeneration) || !StoreHead.isComplete(indexGeneration)) {
      return null;
    }
    RowLayout layout = form.layout;
    int[] positions = form.positions();
    boolean[] missingNull = new boolean[positions.length];
    long[] dictionaryCells = new long[positions.length];
    for (int i = 0; i < positions.length; i++) {
      missingNull[i] = layout.isMissingNull(positions[i]);
      long cell = layout.dictionaryCell(positions[i]);
      dictionaryCells[i] = cell == 0 ? 0 : cell - head.address();
    }
    return new SharedIndex(
        pages.cell() - head.address(),
        tableGeneration,
        indexCell - head.address(),
        indexGeneration,
        layout.rows,
        positions,
        missingNull,
        dictionaryCells);
  }

  // ---- writing ----

  @Override
  public long insert(StoreTransaction transaction, VectorBatch values, int row) {
    Writer own = own(transaction);
    try {
      return writer.insert(own, values, row);
    } catch (EngineException refused) {
      makeRoom(refused);
      return writer.insert(own, values, row);
    }
  }

  @Override
  public BulkInsert bulkInsert(StoreTransaction transaction) {
    return new BulkInsertion(this, own(transaction));
  }

  @Override
  public boolean update(StoreTransaction transaction, long rowId, VectorBatch values, int row) {
    Writer own = own(transaction);
    try {
      return writer.update(own, rowId, values, row);
    } catch (EngineException refused) {
      makeRoom(refused);
      return writer.update(own, rowId, values, row);
    }
  }

  @Override
  public boolean lock(StoreTransaction transaction, long rowId, LockStrength strength) {
    Writer own = own(transaction);
    try {
      return locker.lock(own, rowId, strength);
    } catch (EngineException refused) {
      makeRoom(refused);
      return locker.lock(own, rowId, strength);
    }
  }

  @Override
  public boolean lockKey(
      StoreTransaction transaction, long rowId, int[] columns, VectorBatch key, int row) {
    Writer own = own(transaction);
    Page page = page(rowId >>> Page.SLOT_BITS);
    return page != null
        && locker.lockKey(own, page, Page.slotOf(rowId), form.stored(columns), key, row);
  }

  @Override
  public void lockKeys(StoreTransaction transaction) {
    Writer prepared = (Writer) transaction;
    prepared.reenter(this);
    locker.lockAll(prepared);
  }

  @Override
  public boolean delete(StoreTransaction transaction, long rowId) {
    Writer own = own(transaction);
    try {
      return writer.delete(own, rowId);
    } catch (EngineException refused) {
      makeRoom(refused);
      return writer.delete(own, rowId);
    }
  }

  @Override
  public void requireUnique(StoreTransaction transaction, long indexId, long rowId) {
    for (TableIndex index : form.indexes()) {
      if (index.definition.indexId() == indexId) {
        entries.requireUnique(own(transaction), index, rowId);
      }
    }
  }

  /// After a change that found no memory and left nothing: frees what nobody sees any more, in case the collector has not come to it. Then
  /// it is worth a second try.
  private void makeRoom(EngineException refused) {
    if (refused.code() != ErrorCode.OUT_OF_MEMORY) {
      throw refused;
    }
    collector.collectForMemory();
  }

  @SuppressWarnings("ReferenceEquality") // the same store
  private Writer own(StoreTransaction transaction) {
    if (!(transaction instanceof Writer known) || known.parts() != store) {
      throw new IllegalArgumentException("transaction belongs to another store");
    }
    known.checkWritable();
    if (dropped) {
      throw new EngineException(
          ErrorCode.UNDEFINED_TABLE, "table %d was dropped".formatted(tableId()));
    }
    known.enter(this);
    return known;
  }

  /// Takes back one write of a transaction that rolls back; writes are taken back in reverse order.
  public void undoWrite(Writer transaction, Page page, int slot, long undo) {
    changes.undo(transaction, page, slot, undo);
    if (undo == 0) {
      pages.offerRoom(page);
    }
  }

  /// Takes back rows that have no entries in indexes, and that the transaction does not know of; the last ones first.
  void undoInserts(Writer transaction, WriteLog inserts) {
    Page last = null;
    while (inserts.size() > 0) {
      WriteLog.Inserts together = transaction.canRetract() ? inserts.takeInserts(0) : null;
      if (together != null) {
        changes.retract(together);
        transaction.garbage().addRetracted(this, together, false);
        continue;
      }
      Page page = inserts.page(inserts.size() - 1);
      changes.undoBare(transaction, page, inserts.rowSlot(inserts.size() - 1));
      inserts.removeLast();
      if (last != null && last != page) {
        pages.offerRoom(last);
      }
      last = page;
    }
    if (last != null) {
      pages.offerRoom(last);
    }
  }

  /// Takes back inserts of a transaction that rolls back, in an order of their own; they are the last writes of their rows. The collector
  /// does the rest.
  public void retract(Writer transaction, WriteLog.Inserts inserts) {
    changes.retract(inserts);
    transaction.addRows(this, -inserts.size());
    transaction.garbage().addRetracted(this, inserts, true);
  }

  /// Makes a change of a prepared transaction again, during recovery, or one of a primary.
  ///
  /// @param version the row as the transaction leaves it, its values in the pool; null: deleted
  public void replay(Writer transaction, long rowId, @Nullable RowVersion version) {
    transaction.reenter(this);
    replay.replay(transaction, rowId, version);
  }

  /// Takes a row lock of a prepared transaction again, during recovery, when its changes are made.
  public void restoreLock(Writer transaction, long rowId, LockStrength strength) {
    transaction.reenter(this);
    locker.restore(transaction, rowId, strength);
  }

  // ---- what the collector does ----

  @Override
  public void freeReplaced(Page page, int slot, long undo, long timestamp, long horizon) {
    changes.freeReplaced(page, slot, undo, timestamp, horizon, dropped);
  }

  @Override
  public void dropEntry(TableIndex index, Page page, int slot, KeyBuffer key, long horizon) {
    if (!dropped && !index.isFreed()) {
      entries.drop(index, page, slot, key, horizon);
    }
  }

  /// Whether some version of a row that may still be read has the key of an index entry.
  public boolean isNeeded(TableIndex index, Page page, int slot, KeyBuffer key, long horizon) {
    return entries.isNeeded(index, page, slot, key, horizon);
  }

  @Override
  public void vacate(WriteLog.Inserts inserts, boolean withEntries, Garbage garbage) {
    changes.vacate(inserts, withEntries && !dropped, garbage);
  }

  @Override
  public void offerRoom(Page page) {
    pages.offerRoom(page);
  }

  // ---- definition ----

  /// The form is about to change, for a transaction that has not ended yet: readers in other processes ask until [#endFormChange].
  public void beginFormChange() {
    pages.beginFormChange();
  }

  /// The transaction has ended, or has taken its change back.
  public void endFormChange() {
    pages.endFormChange();
  }

  /// Enters every version of every row into an index that writers already maintain.
  ///
  /// @param transaction whose index it is: its own rows are no conflict
  public void buildIndex(Writer transaction, TableIndex index, long horizon) {
    new IndexBuild(this, transaction, index, horizon).run();
  }

  @Override
  public boolean isDropped() {
    return dropped;
  }

  /// From now on nothing can be written.
  public void drop() {
    dropped = true;
    pages.endSharing();
  }

  /// Frees everything. No running transaction has ever seen the table.
  public void free() {
    List<Page> freed = pages.clear();
    for (Page page : freed) {
      changes.freeValues(page);
      page.free();
    }
    form.free();
  }
}
