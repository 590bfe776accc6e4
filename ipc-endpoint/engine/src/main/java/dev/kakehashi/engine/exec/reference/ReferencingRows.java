package dev.kakehashi.engine.exec.reference;

import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.engine.exec.operator.StatementScope;
import dev.kakehashi.engine.plan.References.Rule;
import dev.kakehashi.engine.store.api.KeyRange;
import dev.kakehashi.engine.store.api.ReadView;
import dev.kakehashi.engine.store.api.RowCursor;
import dev.kakehashi.engine.store.api.TableDefinition.IndexDefinition;
import dev.kakehashi.engine.store.api.TableStore;
import dev.kakehashi.engine.vector.ColumnVector;
import dev.kakehashi.engine.vector.VectorBatch;
import dev.kakehashi.protocol.ErrorCode;
import java.util.List;
import java.util.stream.IntStream;

/// Goes over the rows that reference keys, by an index if there is one, otherwise once over the table for all keys. Confined to one thread
/// at a time.
public final class ReferencingRows {
  /// Rows of a batch of an index scan: a key is mostly referenced by few.
  private static final int INDEX_ROWS = 64;

  private final StatementScope scope;
  private final Rule rule;
  private final ReadView view;
  private final GoneKeys keys;
  private final Visitor visitor;
  private final TableStore table;
  private final int[] columns;

  /// Where the columns of the rule are in what is read.
  private final int[] positions;

  /// Visitor of rows that reference a key.
  public interface Visitor {
    /// @param references the columns of the rule, in its order
    void visit(VectorBatch batch, ColumnVector[] references, int row, int key);
  }

  /// @param whole whether all columns are wanted, not only those of the rule
  public ReferencingRows(
      StatementScope scope,
      Rule rule,
      ReadView view,
      GoneKeys keys,
      boolean whole,
      Visitor visitor) {
    this.scope = scope;
    this.rule = rule;
    this.view = view;
    this.keys = keys;
    this.visitor = visitor;
    this.table = scope.store().table(rule.referencing().tableId());
    this.columns =
        whole
            ? IntStream.range(0, table.definition().columns().size()).toArray()
            : rule.referencing().columns();
    this.positions =
        whole
            ? rule.referencing().columns()
            : IntStream.range(0, rule.referencing().columns().length).toArray();
  }

  /// Refuses the first one.
  public static void refuse(StatementScope scope, Rule rule, ReadView view, GoneKeys keys) {
    new ReferencingRows(
            scope,
            rule,
            view,
            keys,
            false,
            (batch, references, row, key) -> {
              throw stillReferenced(rule, references, row);
            })
        .visit();
  }

  public void visit() {
    List<IndexDefinition> indexes = table.definition().indexes();
    for (int i = 0; i < indexes.size(); i++) {
      int[] order = ReferenceLookup.prefix(indexes.get(i), rule.referencing().columns());
      if (order != null) {
        byIndex(i, order);
        return;
      }
    }
    try (VectorBatch batch = new VectorBatch(columns.length);
        RowCursor cursor = table.scan(view, 0, table.pageCount(), columns, true)) {
      while (cursor.next(batch)) {
        accept(batch);
      }
    }
  }

  private void byIndex(int index, int[] order) {
    long[] words = new long[order.length];
    try (VectorBatch batch = VectorBatch.ofRows(columns.length, INDEX_ROWS)) {
      for (int key = 0; key < keys.size(); key++) {
        boolean fits = true;
        for (int i = 0; i < order.length; i++) {
          words[i] = keys.word(order[i], key);
          fits &= ReferenceLookup.fits(rule.referencing().typeOids()[order[i]], words[i]);
        }
        if (!fits) {
          continue;
        }
        try (RowCursor cursor =
            table.indexScan(view, index, KeyRange.equal(words), false, columns, true)) {
          while (cursor.next(batch)) {
            accept(batch);
          }
        }
      }
    }
  }

  private void accept(VectorBatch batch) {
    scope.checkCanceled();
    scope.scanned(batch.size);
    ColumnVector[] references = new ColumnVector[positions.length];
    for (int i = 0; i < positions.length; i++) {
      references[i] = batch.columns[positions[i]];
    }
    int live = batch.liveRows();
    for (int k = 0; k < live; k++) {
      int row = batch.selected < 0 ? k : batch.selection[k];
      int key = keys.find(references, row);
      if (key >= 0) {
        visitor.visit(batch, references, row, key);
      }
    }
  }

  private static EngineException stillReferenced(Rule rule, ColumnVector[] references, int row) {
    return new EngineException(
            ErrorCode.FOREIGN_KEY_VIOLATION,
            "update or delete on table \"%s\" violates foreign key constraint \"%s\" on table \"%s\""
                .formatted(rule.referenced().table(), rule.name(), rule.referencing().table()))
        .withDetail(
            "Key (%s)=(%s) is still referenced from table \"%s\"."
                .formatted(
                    String.join(", ", rule.referenced().columnNames()),
                    ReferenceLookup.text(rule.referencing().typeOids(), references, row),
                    rule.referencing().table()))
        .withTable(rule.referencing().schema(), rule.referencing().table())
        .withConstraint(rule.name());
  }
}
