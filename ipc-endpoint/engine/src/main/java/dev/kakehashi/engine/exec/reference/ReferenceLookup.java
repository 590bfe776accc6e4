package dev.kakehashi.engine.exec.reference;

import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.engine.exec.rows.MaterializedRows;
import dev.kakehashi.engine.plan.References.Rule;
import dev.kakehashi.engine.store.api.ColumnKind;
import dev.kakehashi.engine.store.api.KeyRange;
import dev.kakehashi.engine.store.api.ReadView;
import dev.kakehashi.engine.store.api.RowCursor;
import dev.kakehashi.engine.store.api.Store;
import dev.kakehashi.engine.store.api.StoreTransaction;
import dev.kakehashi.engine.store.api.TableDefinition.IndexDefinition;
import dev.kakehashi.engine.store.api.TableStore;
import dev.kakehashi.engine.type.Types;
import dev.kakehashi.engine.type.value.Values;
import dev.kakehashi.engine.vector.ColumnVector;
import dev.kakehashi.engine.vector.VectorBatch;
import dev.kakehashi.protocol.ErrorCode;
import dev.kakehashi.protocol.TypeOid;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/// Looks up the rows that rows with a foreign key reference. Confined to one thread at a time.
public final class ReferenceLookup implements AutoCloseable {
  /// Keys of one by-value column that are remembered.
  private static final int MOST_KNOWN = 1 << 12;

  private final Rule rule;
  private final TableStore referenced;
  private final ReadView view;
  private final int index;

  /// Where the index's columns are among those of the rule.
  private final int[] order;

  private final boolean remembers;
  private final Set<Long> known = new HashSet<>();
  private final VectorBatch found;
  private final long[] words;

  /// @param view in which referenced rows are looked for
  public ReferenceLookup(Rule rule, Store store, ReadView view) {
    this.rule = rule;
    this.view = view;
    this.referenced = store.table(rule.referenced().tableId());
    this.index = position(referenced, rule.keyIndexId());
    this.order = order(referenced.definition().indexes().get(index), rule.referenced().columns());
    this.found = VectorBatch.ofRows(order.length, 1);
    this.words = new long[order.length];
    this.remembers =
        order.length == 1 && !Types.kind(rule.referencing().typeOids()[0]).byReference();
  }

  private static int position(TableStore table, long indexId) {
    List<IndexDefinition> indexes = table.definition().indexes();
    for (int i = 0; i < indexes.size(); i++) {
      if (indexes.get(i).indexId() == indexId) {
        return i;
      }
    }
    throw new IllegalStateException("index " + indexId + " is gone");
  }

  /// Where the leading columns of an index are among `columns`; null if they are not the same, or the index has not all rows.
  static int @Nullable [] prefix(IndexDefinition index, int[] columns) {
    if (index.columns().size() < columns.length || !index.predicate().isEmpty()) {
      return null;
    }
    int[] order = new int[columns.length];
    for (int i = 0; i < columns.length; i++) {
      order[i] = -1;
      for (int k = 0; k < columns.length; k++) {
        if (columns[k] == index.columns().get(i)) {
          order[i] = k;
        }
      }
      if (order[i] < 0) {
        return null;
      }
    }
    return order;
  }

  private static int[] order(IndexDefinition index, int[] columns) {
    int[] order = prefix(index, columns);
    if (order == null) {
      throw new IllegalStateException("index " + index.name() + " has other columns");
    }
    return order;
  }

  /// Whether a value of one integer type is one of another; true for other types.
  public static boolean fits(int oid, long word) {
    return switch (oid) {
      case TypeOid.INT2 -> word == (short) word;
      case TypeOid.INT4 -> word == (int) word;
      default -> true;
    };
  }

  /// Lookup that a row of the rule's columns needs.
  enum Need {
    /// Nulls reference nothing.
    NOTHING,
    /// MATCH FULL refuses it.
    MIXED,
    ROW
  }

  Need need(VectorBatch batch, int row) {
    int nulls = 0;
    for (int i = 0; i < order.length; i++) {
      nulls += batch.columns[i].isNull(row) ? 1 : 0;
    }
    if (nulls == 0) {
      return Need.ROW;
    }
    return rule.matchFull() && nulls < order.length ? Need.MIXED : Need.NOTHING;
  }

  /// Whether the row that a key names is there.
  ///
  /// @param batch columns of the rule, in its order; none is null in `row`
  public boolean exists(ColumnVector[] batch, int row) {
    for (int i = 0; i < order.length; i++) {
      words[i] = batch[order[i]].words[row];
      if (!fits(rule.referenced().typeOids()[order[i]], words[i])) {
        return false;
      }
    }
    try (RowCursor cursor =
        referenced.indexScan(
            view, index, KeyRange.equal(words), false, rule.referenced().columns(), true)) {
      return cursor.next(found);
    }
  }

  /// Requires that every row of a batch has what it references.
  ///
  /// @param batch columns of the rule, in its order
  /// @throws EngineException FOREIGN_KEY_VIOLATION
  public void requireAll(VectorBatch batch) {
    int live = batch.liveRows();
    for (int k = 0; k < live; k++) {
      int row = batch.selected < 0 ? k : batch.selection[k];
      if (isViolated(batch, row)) {
        throw violation(batch, row);
      }
    }
  }

  /// Rows of a batch that violate the rule.
  public int violations(VectorBatch batch) {
    int count = 0;
    int live = batch.liveRows();
    for (int k = 0; k < live; k++) {
      count += isViolated(batch, batch.selected < 0 ? k : batch.selection[k]) ? 1 : 0;
    }
    return count;
  }

  private boolean isViolated(VectorBatch batch, int row) {
    return switch (need(batch, row)) {
      case NOTHING -> false;
      case MIXED -> true;
      case ROW -> !isKnown(batch, row) && !exists(batch.columns, row);
    };
  }

  /// Requires what a row of a batch references, and keeps it from going away until the transaction ends.
  ///
  /// @throws dev.kakehashi.engine.store.api.RowConflict if another transaction deletes it
  public void requireLocked(VectorBatch batch, int row, StoreTransaction transaction) {
    Need need = need(batch, row);
    if (need == Need.NOTHING || (need == Need.ROW && isKnown(batch, row))) {
      return;
    }
    if (need == Need.MIXED
        || !exists(batch.columns, row)
        || !referenced.lockKey(
            transaction, found.rowIds[0], rule.referenced().columns(), found, 0)) {
      throw violation(batch, row);
    }
    if (remembers && known.size() < MOST_KNOWN) {
      known.add(batch.columns[0].words[row]);
    }
  }

  private boolean isKnown(VectorBatch batch, int row) {
    return remembers && known.contains(batch.columns[0].words[row]);
  }

  private EngineException violation(VectorBatch batch, int row) {
    String detail =
        need(batch, row) == Need.MIXED
            ? "MATCH FULL does not allow mixing of null and nonnull key values."
            : "Key (%s)=(%s) is not present in table \"%s\"."
                .formatted(
                    String.join(", ", rule.referencing().columnNames()),
                    text(rule.referencing().typeOids(), batch.columns, row),
                    rule.referenced().table());
    return new EngineException(
            ErrorCode.FOREIGN_KEY_VIOLATION,
            "insert or update on table \"%s\" violates foreign key constraint \"%s\""
                .formatted(rule.referencing().table(), rule.name()))
        .withDetail(detail)
        .withTable(rule.referencing().schema(), rule.referencing().table())
        .withConstraint(rule.name());
  }

  /// Values of a key for a message.
  static String text(int[] typeOids, ColumnVector[] columns, int row) {
    List<String> texts = new ArrayList<>();
    for (int i = 0; i < typeOids.length; i++) {
      texts.add(Values.toText(typeOids[i], columns[i].words[row]));
    }
    return String.join(", ", texts);
  }

  /// Whether two rows of some columns have the same bytes.
  public static boolean isSame(int[] typeOids, ColumnVector[] a, ColumnVector[] b) {
    for (int c = 0; c < typeOids.length; c++) {
      boolean isNull = a[c].isNull(0);
      if (isNull != b[c].isNull(0)
          || (!isNull && !isSame(Types.kind(typeOids[c]), a[c].words[0], b[c].words[0]))) {
        return false;
      }
    }
    return true;
  }

  /// Whether two columns of a key have the same bytes.
  static boolean isSame(ColumnKind kind, long a, long b) {
    if (!kind.byReference()) {
      return a == b;
    }
    int bytes = MaterializedRows.valueBytes(kind, a);
    return bytes == MaterializedRows.valueBytes(kind, b)
        && dev.kakehashi.engine.type.RawMemory.equalBytes(a, b, bytes);
  }

  @Override
  public void close() {
    found.close();
  }
}
