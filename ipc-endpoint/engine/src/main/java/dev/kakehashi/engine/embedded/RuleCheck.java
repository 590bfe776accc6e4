package dev.kakehashi.engine.embedded;

import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.engine.catalog.CatalogCheck;
import dev.kakehashi.engine.catalog.CatalogSnapshot;
import dev.kakehashi.engine.catalog.CheckConstraint;
import dev.kakehashi.engine.catalog.Column;
import dev.kakehashi.engine.catalog.Table;
import dev.kakehashi.engine.exec.operator.RowSlices;
import dev.kakehashi.engine.expr.EvalContext;
import dev.kakehashi.engine.expr.Evaluator;
import dev.kakehashi.engine.expr.Evaluators;
import dev.kakehashi.engine.expr.Expr;
import dev.kakehashi.engine.sql.table.TableExpressions;
import dev.kakehashi.engine.store.api.RowCursor;
import dev.kakehashi.engine.store.api.Store;
import dev.kakehashi.engine.store.api.StoreTransaction;
import dev.kakehashi.engine.store.api.TableStore;
import dev.kakehashi.engine.store.check.CheckListener;
import dev.kakehashi.engine.vector.ColumnVector;
import dev.kakehashi.engine.vector.VarHeap;
import dev.kakehashi.engine.vector.VectorBatch;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;

/// Whether the committed rows of a recovered store fulfil the CHECK constraints of their tables and have the values that generated columns
/// compute. A constraint whose condition depends on the time or the session is left out: what it said when a row was written cannot be
/// known.
final class RuleCheck {
  /// @param name what is checked, in a message
  /// @param condition over the columns of the table; false is a violation
  private record Rule(String name, Expr condition) {}

  private RuleCheck() {}

  /// @return what is wrong
  static List<String> run(Store store, CatalogSnapshot catalog, CheckListener report) {
    List<String> problems = new ArrayList<>();
    for (Table table : catalog.tables()) {
      if (table.isSystem()) {
        continue;
      }
      try {
        List<Rule> rules = rules(table, catalog);
        if (!rules.isEmpty()) {
          check(store, table, rules, report, problems);
        }
      } catch (EngineException e) {
        problems.add(CatalogCheck.name(table) + ": " + e.getMessage());
      }
    }
    return problems;
  }

  private static List<Rule> rules(Table table, CatalogSnapshot catalog) {
    List<Rule> rules = new ArrayList<>();
    for (CheckConstraint check : table.checks()) {
      Expr condition = TableExpressions.check(check.text(), table, catalog).expression();
      if (check.validated() && TableExpressions.isImmutable(condition)) {
        rules.add(new Rule("check constraint \"" + check.name() + "\"", condition));
      }
    }
    for (int i = 0; i < table.columns().size(); i++) {
      Column column = table.columns().get(i);
      if (column.generation() != null) {
        Expr computed = TableExpressions.generation(table, i, catalog).expression();
        Expr stored = new Expr.Column(i, column.type().oid());
        rules.add(
            new Rule(
                "generated column \"" + column.name() + "\"",
                new Expr.Not(new Expr.IsDistinct(stored, computed))));
      }
    }
    return rules;
  }

  private static void check(
      Store store, Table table, List<Rule> rules, CheckListener report, List<String> problems) {
    int[] columns = IntStream.range(0, table.columns().size()).toArray();
    long[] violations = new long[rules.size()];
    EvalContext context = new EvalContext();
    List<Expr> expressions = rules.stream().map(Rule::condition).toList();
    Evaluator[] conditions = Evaluators.of(expressions, context);
    ColumnVector[] truth = new ColumnVector[conditions.length];
    RowSlices slices = new RowSlices(expressions);
    TableStore rows = store.table(table.tableId());
    StoreTransaction reader = store.begin(true, false);
    try (VarHeap heap = new VarHeap();
        VectorBatch batch = new VectorBatch(columns.length);
        RowCursor cursor =
            rows.scan(reader.beginStatement(), 0, rows.pageCount(), columns, false)) {
      context.functions.heap = heap;
      while (cursor.next(batch)) {
        do {
          slices.compute(batch, heap, slice -> evaluate(conditions, slice, truth));
          for (int i = 0; i < truth.length; i++) {
            violations[i] += violations(truth[i], batch);
          }
        } while (slices.isUnfinished());
      }
    } finally {
      reader.abort();
    }
    for (int i = 0; i < violations.length; i++) {
      String name = CatalogCheck.name(table) + ": " + rules.get(i).name();
      report.checked(name);
      if (violations[i] > 0) {
        problems.add("%s: %d rows violate it".formatted(name, violations[i]));
      }
    }
  }

  private static void evaluate(Evaluator[] conditions, VectorBatch batch, ColumnVector[] truth) {
    for (int i = 0; i < conditions.length; i++) {
      truth[i] = conditions[i].evaluate(batch);
    }
  }

  private static long violations(ColumnVector truth, VectorBatch batch) {
    long count = 0;
    for (int k = 0; k < batch.liveRows(); k++) {
      int row = batch.selected < 0 ? k : batch.selection[k];
      count += !truth.isNull(row) && truth.words[row] == 0 ? 1 : 0;
    }
    return count;
  }
}
