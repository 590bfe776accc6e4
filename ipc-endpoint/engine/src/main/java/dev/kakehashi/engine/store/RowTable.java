package dev.kakehashi.engine.store;

import dev.kakehashi.engine.api.EngineException;
import dev.kakehashi.engine.store.Store.CatalogChange;
import dev.kakehashi.engine.store.index.KeyBuffer;
import dev.kakehashi.engine.store.memory.Blocks;
import dev.kakehashi.engine.store.memory.MemoryPool;
import dev.kakehashi.engine.store.memory.NativeInput;
import dev.kakehashi.engine.vector.VectorBatch;
import dev.kakehashi.protocol.ErrorCode;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.LongAdder;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/// A table: its pages and its indexes.
///
/// `indexes` is replaced as a whole; a writer reads it while it holds a page's latch, so that whoever builds a new index, having
/// published it before visiting the pages, either finds the writer's version in its page or the writer finds the index.
final class RowTable implements TableStore {
  final MemoryStore store;
  final MemoryPool pool;

  /// Replaced by a wider one when columns are added, by whoever has the table for himself; what is in use of the old one stays right. Who uses an index reads
  /// that first: the layout has its columns then.
  volatile RowLayout layout;

  /// Stored columns of the table's columns.
  private volatile int[] positions = {};

  private volatile boolean[] live = {};
  private volatile int[] dead = {};

  private final RowWriter writer;
  private final RowUndo changes;
  final IndexEntries entries;
  final PageList pages = new PageList(this);
  final KeyLocks keyLocks = new KeyLocks();
  private volatile TableDefinition definition;
  private volatile TableIndex[] indexes;
  private volatile boolean dropped;
  private final LongAdder rowCount = new LongAdder();
  private final LongAdder changeCount = new LongAdder();

  /// See [RowIdentity].
  private final int salt = ThreadLocalRandom.current().nextInt();

  RowTable(MemoryStore store, TableDefinition definition) {
    this.store = store;
    this.pool = store.pool();
    this.layout = new RowLayout(definition.placement(), pool);
    this.definition = definition;
    place(definition.placement());
    this.indexes =
        definition.indexes().stream()
            .map(index -> new TableIndex(definition, index, pool))
            .toArray(TableIndex[]::new);
    this.entries = new IndexEntries(this);
    this.writer = new RowWriter(this);
    this.changes = new RowUndo(this);
  }

  @Override
  public TableDefinition definition() {
    return definition;
  }

  private void place(Placement placement) {
    boolean[] used = placement.live();
    live = used;
    dead = IntStream.range(0, layout.columns).filter(c -> c >= used.length || !used[c]).toArray();
    positions = placement.positions().stream().mapToInt(Integer::intValue).toArray();
  }

  /// Stored columns of the table's columns.
  int[] positions() {
    return positions;
  }

  /// Whether each stored column of the table's present form is one of the table.
  boolean[] live() {
    return live;
  }

  /// Stored columns that are none of the table, also those whose addition was rolled back.
  int[] dead() {
    return dead;
  }

  /// Reads a row of the durable image.
  ///
  /// @param blocks of the pool
  void decode(NativeInput value, Blocks blocks, RowVersion to) {
    RowCodec.decode(layout, live, value, blocks, to);
  }

  /// Stored columns of some of the table's columns.
  int[] stored(int[] columns) {
    int[] present = positions;
    int[] stored = new int[columns.length];
    for (int i = 0; i < stored.length; i++) {
      stored[i] = present[columns[i]];
    }
    return stored;
  }

  long tableId() {
    return definition.tableId();
  }

  @Override
  public long rowCount() {
    return Math.max(0, rowCount.sum());
  }

  void addRowCount(long count) {
    rowCount.add(count);
  }

  @Override
  public long changeCount() {
    return changeCount.sum();
  }

  void addChanges(long count) {
    changeCount.add(count);
  }

  @Override
  public long pageCount() {
    return pages.count();
  }

  /// Page by number; null if there never was a row there.
  @Nullable Page page(long number) {
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

  TableIndex[] indexes() {
    return indexes;
  }

  @Nullable TableIndex indexById(long indexId) {
    TableIndex[] present = indexes;
    int position = position(present, indexId);
    return position < 0 ? null : present[position];
  }

  /// Position of an index.
  ///
  /// @throws IllegalArgumentException if there is no such index
  int indexPosition(long indexId) {
    int position = position(indexes, indexId);
    if (position < 0) {
      throw new IllegalArgumentException("table %d has no index %d".formatted(tableId(), indexId));
    }
    return position;
  }

  private static int position(TableIndex[] indexes, long indexId) {
    for (int i = 0; i < indexes.length; i++) {
      if (indexes[i].definition.indexId() == indexId) {
        return i;
      }
    }
    return -1;
  }

  // ---- reading ----

  @Override
  public PageCursor scan(
      ReadView view, long firstPage, long endPage, int[] columns, boolean withRowIds) {
    noteRead(view);
    return new ScanCursor(this, view, firstPage, endPage, stored(columns), withRowIds);
  }

  @Override
  public RowCursor sample(ReadView view, double fraction, long seed, int[] columns) {
    noteRead(view);
    return fraction < 1
        ? new SampleCursor(this, view, fraction, seed, stored(columns))
        : new ScanCursor(this, view, 0, pageCount(), stored(columns), false);
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
    return indexes[index].covers(batch, row);
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
    TableIndex[] present = indexes;
    if (position < 0 || position >= present.length) {
      throw new IllegalArgumentException("table %d has no index %d".formatted(tableId(), position));
    }
    return present[position];
  }

  @Override
  public boolean read(ReadView view, long rowId, int[] columns, VectorBatch to) {
    to.reset();
    Page page = page(rowId >>> Page.SLOT_BITS);
    int[] wanted = stored(columns);
    if (page == null) {
      return false;
    }
    RowVersion version = new RowVersion(layout.columns);
    RowReader reader = new RowReader(store, view);
    boolean found = reader.read(page, Page.slotOf(rowId), version, wanted);
    reader.end();
    if (!found) {
      return false;
    }
    version.appendTo(to, layout, wanted);
    return true;
  }

  @Override
  public long identity(long rowId) {
    return RowIdentity.of(rowId, pageOf(rowId).reuses(Page.slotOf(rowId)), salt);
  }

  @Override
  public RowCursor identityScan(ReadView view, long identity, int[] columns) {
    noteRead(view);
    return new IdentityCursor(this, view, identity, stored(columns));
  }

  @Override
  public OwnChange ownChange(ReadView view, long rowId) {
    return view instanceof CommandView hiding
        ? RowReader.ownChange(pageOf(rowId), Page.slotOf(rowId), hiding)
        : OwnChange.NONE;
  }

  // ---- writing ----

  @Override
  public long insert(StoreTransaction transaction, VectorBatch values, int row) {
    RowTransaction own = own(transaction);
    try {
      return writer.insert(own, values, row);
    } catch (EngineException refused) {
      makeRoom(refused);
      return writer.insert(own, values, row);
    }
  }

  @Override
  public boolean update(StoreTransaction transaction, long rowId, VectorBatch values, int row) {
    RowTransaction own = own(transaction);
    try {
      return writer.update(own, rowId, values, row);
    } catch (EngineException refused) {
      makeRoom(refused);
      return writer.update(own, rowId, values, row);
    }
  }

  @Override
  public boolean lock(StoreTransaction transaction, long rowId) {
    RowTransaction own = own(transaction);
    try {
      return writer.lock(own, rowId);
    } catch (EngineException refused) {
      makeRoom(refused);
      return writer.lock(own, rowId);
    }
  }

  @Override
  public boolean lockKey(
      StoreTransaction transaction, long rowId, int[] columns, VectorBatch key, int row) {
    RowTransaction own = own(transaction);
    Page page = page(rowId >>> Page.SLOT_BITS);
    return page != null && keyLocks.lock(own, page, Page.slotOf(rowId), stored(columns), key, row);
  }

  @Override
  public void lockKeys(StoreTransaction transaction) {
    RowTransaction prepared = (RowTransaction) transaction;
    prepared.admission().reenter(this);
    keyLocks.lockAll(prepared, this);
  }

  @Override
  public boolean delete(StoreTransaction transaction, long rowId) {
    RowTransaction own = own(transaction);
    try {
      return writer.delete(own, rowId);
    } catch (EngineException refused) {
      makeRoom(refused);
      return writer.delete(own, rowId);
    }
  }

  @Override
  public void requireUnique(StoreTransaction transaction, long indexId, long rowId) {
    for (TableIndex index : indexes) {
      if (index.definition.indexId() == indexId) {
        entries.requireUnique(own(transaction), index, rowId);
      }
    }
  }

  /// After a change that found no memory and left nothing: frees what nobody sees any more, in case the collector has not come to it. Then it is worth a second try.
  private void makeRoom(EngineException refused) {
    if (refused.code() != ErrorCode.OUT_OF_MEMORY) {
      throw refused;
    }
    store.collector().collectForMemory();
  }

  private RowTransaction own(StoreTransaction transaction) {
    if (!(transaction instanceof RowTransaction known) || known.store != store) {
      throw new IllegalArgumentException("transaction belongs to another store");
    }
    known.checkWritable();
    if (dropped) {
      throw new EngineException(
          ErrorCode.UNDEFINED_TABLE, "table %d was dropped".formatted(tableId()));
    }
    known.admission().enter(this);
    return known;
  }

  /// Takes back one write of a transaction that rolls back; writes are taken back in reverse order.
  void undoWrite(RowTransaction transaction, Page page, int slot, long undo) {
    changes.undo(transaction, page, slot, undo);
    if (undo == 0) {
      pages.offerRoom(page);
    }
  }

  /// Makes a change of a prepared transaction again, during recovery.
  ///
  /// @param version the row as the transaction leaves it, its values in the pool; null: deleted
  void replay(RowTransaction transaction, long rowId, @Nullable RowVersion version) {
    transaction.admission().reenter(this);
    writer.replay(transaction, rowId, version);
  }

  /// Stamps the newest version of a row of a latched page, if it is (still) the transaction's own.
  void stampCommitted(RowTransaction transaction, Page page, int slot, long timestamp) {
    long stamp = page.stamp(slot);
    if (Stamp.isInFlight(stamp) && Stamp.slot(stamp) == transaction.slot) {
      page.commitStamp(slot, stamp, timestamp);
    }
  }

  // ---- what the collector does ----

  /// Frees what a committed write has replaced.
  void freeReplaced(Page page, int slot, long undo, long timestamp, long horizon) {
    changes.freeReplaced(page, slot, undo, timestamp, horizon, dropped);
  }

  /// Removes an index entry unless some version that may still be read has its key.
  ///
  /// @param key the entry: key and row identifier
  void dropEntry(TableIndex index, Page page, int slot, KeyBuffer key, long horizon) {
    if (!dropped && !index.isFreed()) {
      entries.drop(index, page, slot, key, horizon);
    }
  }

  /// Whether some version of a row that may still be read has the key of an index entry.
  boolean isNeeded(TableIndex index, Page page, int slot, KeyBuffer key, long horizon) {
    return entries.isNeeded(index, page, slot, key, horizon);
  }

  // ---- definition ----

  void addIndex(TableIndex index) {
    addIndex(indexes.length, index);
  }

  void addIndex(int position, TableIndex index) {
    List<TableIndex> changed = new ArrayList<>(Arrays.asList(indexes));
    changed.add(position, index);
    setIndexes(changed.toArray(TableIndex[]::new));
  }

  void removeIndex(TableIndex index) {
    setIndexes(Arrays.stream(indexes).filter(other -> other != index).toArray(TableIndex[]::new));
  }

  private void setIndexes(TableIndex[] changed) {
    definition = withIndexes(definition, changed);
    indexes = changed;
  }

  /// Takes over which columns refuse null and what indexes are called.
  void redefine(TableDefinition changed) {
    TableDefinition old = definition;
    describe(
        new TableDefinition(
            old.tableId(), old.columns(), changed.notNull(), changed.indexes(), old.placement()));
  }

  /// The definition is `next` with the present indexes, which get its descriptions.
  private void describe(TableDefinition next) {
    for (TableIndex index : indexes) {
      next.indexes().stream()
          .filter(other -> other.indexId() == index.definition.indexId())
          .forEach(index::describe);
    }
    definition = withIndexes(next, indexes);
  }

  private static TableDefinition withIndexes(TableDefinition of, TableIndex[] indexes) {
    return new TableDefinition(
        of.tableId(),
        of.columns(),
        of.notNull(),
        Arrays.stream(indexes).map(index -> index.definition).toList(),
        of.placement());
  }

  /// The table's next form: the change's, placed in the rows.
  TableDefinition reshaped(CatalogChange.Reshape change) {
    TableDefinition next = change.definition();
    return next.withPlacement(
        definition.placement().next(List.of(layout.kinds), next.columns(), change.origins()));
  }

  /// Takes over another form: no row is touched. Its indexes are the present ones with other positions. What was added and is taken back keeps its stored
  /// column, which no later one gets before a restart: older versions and what waits for the collector may have it.
  ///
  /// @param next placed in the rows
  void reshape(TableDefinition next) {
    Placement placement = next.placement();
    if (placement.stored().size() > layout.columns) {
      layout = layout.grown(placement, pool);
    }
    describe(next);
    place(placement);
  }

  /// Enters every version of every row into an index that writers already maintain.
  ///
  /// @param transaction whose index it is: its own rows are no conflict
  void buildIndex(RowTransaction transaction, TableIndex index, long horizon) {
    new IndexBuild(this, transaction, index, horizon).run();
  }

  boolean isDropped() {
    return dropped;
  }

  /// From now on nothing can be written.
  void drop() {
    dropped = true;
  }

  /// Frees everything. No running transaction has ever seen the table.
  void free() {
    List<Page> freed = pages.clear();
    for (Page page : freed) {
      changes.freeValues(page);
      page.free();
    }
    layout.freeMissing(pool);
    for (TableIndex index : indexes) {
      index.free();
    }
  }
}
