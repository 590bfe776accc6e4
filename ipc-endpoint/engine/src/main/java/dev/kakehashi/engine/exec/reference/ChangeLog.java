package dev.kakehashi.engine.exec.reference;

import dev.kakehashi.engine.exec.operator.RunContext;
import dev.kakehashi.engine.exec.rows.MaterializedRows;
import dev.kakehashi.engine.exec.rows.MemoryAccount;
import dev.kakehashi.engine.plan.PhysicalPlan.Target;
import dev.kakehashi.engine.plan.References;
import dev.kakehashi.engine.plan.References.Rule;
import dev.kakehashi.engine.store.api.ColumnKind;
import dev.kakehashi.engine.store.api.ReadView;
import dev.kakehashi.engine.store.api.StoreTransaction;
import dev.kakehashi.engine.store.api.TableStore;
import dev.kakehashi.engine.vector.ColumnVector;
import dev.kakehashi.engine.vector.VectorBatch;
import dev.kakehashi.protocol.TypeOid;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/// Changes of a statement, or of an action of a foreign key, to the rows of one table that foreign keys ask about. They are rows with new
/// references, and keys that went away. Confined to one thread at a time.
public final class ChangeLog {
  private static final int FIRST_ROWS = 16;

  private final TableStore table;
  private final StoreTransaction transaction;
  private final List<Rule> outgoing;
  private final List<Rule> incoming;

  /// Rules that are looked at when the transaction commits.
  private final Set<Rule> deferred;

  /// Columns that some rule names, ascending.
  private final int[] tracked;

  private final ColumnKind[] kinds;

  /// The row before its change: the tracked columns, then its identifier.
  private final VectorBatch old;

  /// Sees all that was done before.
  private final ReadView before;

  /// By outgoing rule, rows whose references are new.
  private final RowIds[] written;

  private final MaterializedRows deleted;
  private final MaterializedRows updated;
  private final MemoryAccount memory;

  public ChangeLog(Target target, References references, RunContext run) {
    this.table = run.scope().store().table(target.tableId());
    this.transaction = run.scope().transaction();
    this.memory = run.memory();
    List<Rule> all = references.of(target.tableId());
    this.incoming = references.to(target.tableId());
    this.deferred =
        Stream.concat(all.stream(), incoming.stream())
            .filter(rule -> run.scope().defers(rule))
            .collect(Collectors.toSet());
    this.outgoing = all.stream().filter(rule -> !deferred.contains(rule)).toList();
    this.tracked =
        IntStream.concat(
                outgoing.stream().flatMapToInt(rule -> Arrays.stream(rule.referencing().columns())),
                incoming.stream().flatMapToInt(rule -> Arrays.stream(rule.referenced().columns())))
            .distinct()
            .sorted()
            .toArray();
    int[] oids = new int[tracked.length + 1];
    for (int i = 0; i < tracked.length; i++) {
      oids[i] = target.typeOids()[tracked[i]];
    }
    oids[tracked.length] = TypeOid.INT8;
    this.written = new RowIds[outgoing.size()];
    Arrays.setAll(written, i -> new RowIds());
    this.kinds = MaterializedRows.kinds(oids);
    this.old = VectorBatch.ofRows(oids.length, 1);
    this.deleted = new MaterializedRows(oids, memory);
    this.updated = new MaterializedRows(oids, memory);
    this.before = transaction.beginStatement();
  }

  public List<Rule> outgoing() {
    return outgoing;
  }

  public List<Rule> incoming() {
    return incoming;
  }

  /// Whether a rule is looked at when the transaction commits, as far as it can be: references, and NO ACTION.
  public boolean isDeferred(Rule rule) {
    return deferred.contains(rule);
  }

  /// Rows that were deleted, as the tracked columns and their identifiers.
  public MaterializedRows deleted() {
    return deleted;
  }

  /// Rows whose keys may have changed, as they were.
  public MaterializedRows updated() {
    return updated;
  }

  /// Rows whose references by a rule are new.
  ///
  /// @param rule position among the outgoing ones
  public RowIds written(int rule) {
    return written[rule];
  }

  /// Where columns of the table are among the tracked ones.
  public int[] positions(int[] columns) {
    return Arrays.stream(columns).map(column -> Arrays.binarySearch(tracked, column)).toArray();
  }

  /// Column of the identifiers.
  public int rowIdColumn() {
    return tracked.length;
  }

  public boolean isEmpty() {
    return deleted.size() == 0
        && updated.size() == 0
        && Arrays.stream(written).allMatch(rows -> rows.count == 0);
  }

  public void noteInserted(long rowId) {
    for (RowIds rows : written) {
      rows.add(rowId);
    }
  }

  /// Before a row is changed or deleted.
  ///
  /// @return false if it is not there: the change will say so
  public boolean read(long rowId) {
    if (!table.read(before, rowId, tracked, old)) {
      return false;
    }
    old.columns[tracked.length].words[0] = rowId;
    return true;
  }

  /// After [#read], and the deletion.
  public void noteDeleted() {
    if (!incoming.isEmpty()) {
      deleted.append(old);
    }
  }

  /// After [#read], and the change.
  ///
  /// @param values all columns
  public void noteUpdated(long rowId, VectorBatch values, int row) {
    for (int i = 0; i < written.length; i++) {
      if (differs(outgoing.get(i).referencing().columns(), values, row)) {
        written[i].add(rowId);
      }
    }
    if (incoming.stream().anyMatch(rule -> differs(rule.referenced().columns(), values, row))) {
      updated.append(old);
    }
  }

  private boolean differs(int[] columns, VectorBatch values, int row) {
    for (int column : columns) {
      int at = Arrays.binarySearch(tracked, column);
      ColumnVector before = old.columns[at];
      ColumnVector after = values.columns[column];
      if (before.isNull(0) != after.isNull(row)
          || (!before.isNull(0)
              && !ReferenceLookup.isSame(kinds[at], before.words[0], after.words[row]))) {
        return true;
      }
    }
    return false;
  }

  /// Identifiers of rows, in the order in which they were added.
  public final class RowIds {
    private long[] ids = new long[FIRST_ROWS];
    private int count;

    public int count() {
      return count;
    }

    public long id(int i) {
      return ids[i];
    }

    private void add(long rowId) {
      if (count == ids.length) {
        memory.add(8L * ids.length);
        ids = Arrays.copyOf(ids, 2 * count);
      }
      ids[count++] = rowId;
    }

    private void clear() {
      memory.add(-8L * (ids.length - FIRST_ROWS));
      ids = new long[FIRST_ROWS];
      count = 0;
    }
  }

  public void close() {
    for (RowIds rows : written) {
      rows.clear();
    }
    deleted.clear();
    updated.clear();
    old.close();
  }
}
