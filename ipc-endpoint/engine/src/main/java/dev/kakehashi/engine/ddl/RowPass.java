package dev.kakehashi.engine.ddl;

import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.engine.exec.operator.RowSlices;
import dev.kakehashi.engine.expr.EvalContext;
import dev.kakehashi.engine.expr.Evaluator;
import dev.kakehashi.engine.expr.Evaluators;
import dev.kakehashi.engine.expr.Expr;
import dev.kakehashi.engine.store.api.RowCursor;
import dev.kakehashi.engine.store.api.TableStore;
import dev.kakehashi.engine.txn.StatementExecution;
import dev.kakehashi.engine.type.FunctionContext;
import dev.kakehashi.engine.vector.ColumnVector;
import dev.kakehashi.engine.vector.VectorBatch;
import dev.kakehashi.protocol.ErrorCode;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/// Goes over the rows of a table: computes the row that each one becomes, checks it, and copies it to another table where that is asked
/// for. Gives its worker to others between batches. Nobody else has the table meanwhile; it sees the newest commits and what its own
/// transaction did.
final class RowPass extends BatchPass {
  /// Rule that every row has to fulfil.
  ///
  /// @param condition over the new row; false is a violation
  /// @param violated made for the first row that violates it
  record Rule(Expr condition, EngineException violated) {}

  private final long from;
  private final @Nullable Long to;
  private final List<Expr> values;
  private final List<Rule> rules;
  private final EvalContext context = new EvalContext();
  private Evaluator[] newValues = new Evaluator[0];
  private List<Evaluator> conditions = List.of();
  private VectorBatch source = new VectorBatch(0);
  private VectorBatch row = new VectorBatch(0);
  private final RowSlices slices;
  private final Consumer<VectorBatch> computation = this::compute;

  /// @param to number of the table that gets the rows; null: they are only checked
  /// @param values over the columns of the old row, one per column of the new one
  RowPass(long from, @Nullable Long to, List<Expr> values, List<Rule> rules) {
    this.from = from;
    this.to = to;
    this.values = List.copyOf(values);
    this.rules = List.copyOf(rules);
    List<Expr> computed = new ArrayList<>(values);
    rules.forEach(rule -> computed.add(rule.condition()));
    this.slices = new RowSlices(computed);
  }

  @Override
  RowCursor open(StatementExecution execution) {
    TableStore table = execution.store().table(from);
    int[] columns = new int[table.definition().columns().size()];
    for (int c = 0; c < columns.length; c++) {
      columns[c] = c;
    }
    source = new VectorBatch(columns.length);
    row = new VectorBatch(0, values.size());
    context.functions =
        new FunctionContext(
            row.heap, execution.statementTimestamp(), execution.transactionTimestamp(), execution);
    newValues = Evaluators.of(values, context);
    conditions = new ArrayList<>();
    rules.forEach(rule -> conditions.add(Evaluators.of(rule.condition(), context)));
    return table.scan(execution.transaction().beginLatest(), 0, table.pageCount(), columns, false);
  }

  @Override
  VectorBatch source() {
    return source;
  }

  @Override
  void accept(StatementExecution execution) {
    do {
      slices.compute(source, row.heap, computation);
      if (to != null) {
        TableStore target = execution.store().table(to);
        int live = row.liveRows();
        for (int k = 0; k < live; k++) {
          target.insert(execution.transaction(), row, row.selected < 0 ? k : row.selection[k]);
        }
      }
    } while (slices.isUnfinished());
  }

  /// Makes the new rows of a batch in `row`, and checks them.
  private void compute(VectorBatch batch) {
    context.functions.heap = row.heap;
    for (int c = 0; c < newValues.length; c++) {
      row.columns[c] = newValues[c].evaluate(batch);
    }
    row.size = batch.size;
    row.selection = batch.selection;
    row.selected = batch.selected;
    int live = row.liveRows();
    for (int i = 0; i < conditions.size(); i++) {
      ColumnVector truth = conditions.get(i).evaluate(row);
      for (int k = 0; k < live; k++) {
        int at = row.selected < 0 ? k : row.selection[k];
        if (!truth.isNull(at) && truth.words[at] == 0) {
          throw rules.get(i).violated();
        }
      }
    }
  }

  @Override
  public void close() {
    super.close();
    row.close();
  }

  /// A rule against null.
  static Rule notNull(int column, int typeOid, String name, String schema, String table) {
    return new Rule(
        new Expr.Not(new Expr.IsNull(new Expr.Column(column, typeOid))),
        new EngineException(
                ErrorCode.NOT_NULL_VIOLATION,
                "column \"" + name + "\" of relation \"" + table + "\" contains null values")
            .withTable(schema, table)
            .withColumn(name));
  }
}
