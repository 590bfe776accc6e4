package dev.kakehashi.engine.store.row;

import dev.kakehashi.engine.store.api.Placement;
import dev.kakehashi.engine.store.api.Store.CatalogChange;
import dev.kakehashi.engine.store.api.TableDefinition;
import dev.kakehashi.engine.store.api.TableDefinition.IndexDefinition;
import dev.kakehashi.engine.store.memory.Blocks;
import dev.kakehashi.engine.store.memory.MemoryPool;
import dev.kakehashi.engine.store.memory.NativeInput;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/// Present form of a table: its definition, the place of its columns in the rows, and its indexes. Written by the thread that has the table
/// for itself, read by all.
///
/// `indexes` is replaced as a whole, and a writer reads it while it holds a page's latch. An index build publishes the new index before it
/// visits the pages. So either it finds the writer's version in its page, or the writer finds the index.
public final class TableForm {
  final MemoryPool pool;
  private final long tableId;

  /// Replaced by a wider layout when columns are added, by the thread that has the table for itself; uses of the old layout stay right. A
  /// thread that uses an index reads the index first: the layout has its columns then.
  public volatile RowLayout layout;

  /// Stored columns of the table's columns.
  private volatile int[] positions = {};

  private volatile boolean[] live = {};
  private volatile int[] dead = {};

  private volatile TableDefinition definition;
  private volatile TableIndex[] indexes;

  /// @param pool gets the missing values of columns, and the nodes of indexes
  public TableForm(TableDefinition definition, MemoryPool pool) {
    this.pool = pool;
    this.tableId = definition.tableId();
    this.layout = new RowLayout(definition.placement(), pool);
    this.definition = definition;
    place(definition.placement());
    this.indexes = newIndexes(definition);
  }

  /// Indexes of a new table. Without memory for one of them nothing is left of the others, and of the missing values.
  private TableIndex[] newIndexes(TableDefinition of) {
    List<TableIndex> made = new ArrayList<>();
    boolean complete = false;
    try {
      for (IndexDefinition index : of.indexes()) {
        made.add(new TableIndex(of, index, pool));
      }
      complete = true;
    } finally {
      if (!complete) {
        made.forEach(TableIndex::free);
        layout.free(pool);
      }
    }
    return made.toArray(TableIndex[]::new);
  }

  public long tableId() {
    return tableId;
  }

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
  public int[] positions() {
    return positions;
  }

  /// Whether each stored column of the table's present form is one of the table.
  boolean[] live() {
    return live;
  }

  /// Stored columns that are none of the table, also those whose addition was rolled back.
  public int[] dead() {
    return dead;
  }

  /// Reads a row of the durable image.
  ///
  /// @param blocks of the pool
  public void decode(NativeInput value, Blocks blocks, RowVersion to) {
    RowCodec.decode(layout, live, value, blocks, to);
  }

  /// Stored columns of some of the table's columns.
  public int[] stored(int[] columns) {
    int[] present = positions;
    int[] stored = new int[columns.length];
    for (int i = 0; i < stored.length; i++) {
      stored[i] = present[columns[i]];
    }
    return stored;
  }

  public TableIndex[] indexes() {
    return indexes;
  }

  public @Nullable TableIndex indexById(long indexId) {
    TableIndex[] present = indexes;
    int position = position(present, indexId);
    return position < 0 ? null : present[position];
  }

  /// Position of an index.
  ///
  /// @throws IllegalArgumentException if there is no such index
  public int indexPosition(long indexId) {
    int position = position(indexes, indexId);
    if (position < 0) {
      throw new IllegalArgumentException("table %d has no index %d".formatted(tableId, indexId));
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

  public void addIndex(TableIndex index) {
    addIndex(indexes.length, index);
  }

  public void addIndex(int position, TableIndex index) {
    List<TableIndex> changed = new ArrayList<>(Arrays.asList(indexes));
    changed.add(position, index);
    setIndexes(changed.toArray(TableIndex[]::new));
  }

  public void removeIndex(TableIndex index) {
    setIndexes(Arrays.stream(indexes).filter(other -> other != index).toArray(TableIndex[]::new));
  }

  private void setIndexes(TableIndex[] changed) {
    definition = withIndexes(definition, changed);
    indexes = changed;
  }

  /// Takes over which columns refuse null and what indexes are called.
  public void redefine(TableDefinition changed) {
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
  public TableDefinition reshaped(CatalogChange.Reshape change) {
    TableDefinition next = change.definition();
    return next.withPlacement(
        definition.placement().next(List.of(layout.kinds), next.columns(), change.origins()));
  }

  /// Takes over another form: no row is touched. Its indexes are the present ones with other positions. A column that was added and is
  /// taken back keeps its stored column, which no later one gets before a restart: older versions and garbage may have it.
  ///
  /// @param next placed in the rows
  public void reshape(TableDefinition next) {
    Placement placement = next.placement();
    if (placement.stored().size() > layout.columns) {
      layout = layout.grown(placement, pool);
    }
    describe(next);
    place(placement);
  }

  /// Frees missing and shared values, and indexes. Nobody uses the table any more.
  public void free() {
    layout.free(pool);
    for (TableIndex index : indexes) {
      index.free();
    }
  }
}
