package dev.kakehashi.engine.sql;

import dev.kakehashi.engine.expr.Expr;
import dev.kakehashi.engine.expr.ExprRewriter;
import dev.kakehashi.engine.plan.PlanNode;
import dev.kakehashi.engine.plan.PlanNode.JoinKind;
import java.util.ArrayList;
import java.util.List;
import org.apache.calcite.plan.RelOptUtil;
import org.apache.calcite.rel.RelNode;
import org.apache.calcite.rel.core.Join;
import org.apache.calcite.rel.core.Project;
import org.apache.calcite.rel.core.TableScan;
import org.apache.calcite.rex.RexBuilder;
import org.apache.calcite.rex.RexInputRef;
import org.apache.calcite.rex.RexNode;
import org.apache.calcite.rex.RexOver;
import org.apache.calcite.rex.RexShuttle;
import org.apache.calcite.rex.RexUtil;
import org.apache.calcite.util.ImmutableBitSet;
import org.jspecify.annotations.Nullable;

/// A join of few rows with a large table that has an index of the joined columns: each row looks its partners up, and the table is not scanned.
final class IndexJoin {
  /// What a look at an index costs, and each row that is read through it, in rows of a scan that are read and probe a hash table.
  private static final double LOOKUP = 20;

  private static final double FOUND_ROW = 4;

  private IndexJoin() {}

  /// The join by lookups, if it can be made so and costs less than reading all of the table.
  static @Nullable PlanNode choose(Join join, JoinKind kind, PlanTranslator translator) {
    int leftCount = join.getLeft().getRowType().getFieldCount();
    int rightCount = join.getRight().getRowType().getFieldCount();
    boolean looksRight =
        kind == JoinKind.INNER
            || kind == JoinKind.LEFT
            || kind == JoinKind.SEMI
            || kind == JoinKind.ANTI;
    if (looksRight) {
      PlanNode lookups =
          lookups(join.getLeft(), join.getRight(), join.getCondition(), kind, translator);
      if (lookups != null) {
        return lookups;
      }
    }
    if (kind != JoinKind.INNER && kind != JoinKind.RIGHT) {
      return null;
    }
    PlanNode lookups =
        lookups(
            join.getRight(),
            join.getLeft(),
            JoinSides.swapped(join.getCondition(), leftCount, rightCount),
            kind == JoinKind.RIGHT ? JoinKind.LEFT : kind,
            translator);
    return lookups == null ? null : JoinSides.swappedBack(lookups, leftCount, rightCount);
  }

  private static @Nullable PlanNode lookups(
      RelNode outer, RelNode inner, RexNode condition, JoinKind kind, PlanTranslator translator) {
    RexBuilder rex = outer.getCluster().getRexBuilder();
    // Columns that only the table's own filter needs are left out above it.
    Project above =
        inner instanceof Project project && ScanShape.of(inner, rex) == null ? project : null;
    ScanShape shape = ScanShape.of(above == null ? inner : above.getInput(), rex);
    if (shape == null
        || shape.table().isSystem()
        || !RexUtil.isDeterministic(condition)
        || (above != null && RexOver.containsOver(above.getProjects(), null))) {
      return null;
    }
    TableScan base = base(inner);
    double tableRows = base.getTable().getRowCount();
    double outerRows = PlanTranslator.rows(outer);
    if (outerRows * LOOKUP > tableRows) {
      return null;
    }
    int outerCount = outer.getRowType().getFieldCount();
    ImmutableBitSet used =
        RelOptUtil.InputFinder.bits(condition).intersect(ImmutableBitSet.range(outerCount));
    int first = translator.takeParameters(used.cardinality());
    List<RexNode> conjuncts = new ArrayList<>(shape.conjuncts());
    for (RexNode term : RelOptUtil.conjunctions(condition)) {
      conjuncts.add(
          term.accept(
              new RexShuttle() {
                @Override
                public RexNode visitInputRef(RexInputRef reference) {
                  int index = reference.getIndex();
                  if (index < outerCount) {
                    return rex.makeDynamicParam(reference.getType(), first + used.indexOf(index));
                  }
                  return above == null
                      ? rex.makeInputRef(reference.getType(), index - outerCount)
                      : above.getProjects().get(index - outerCount);
                }
              }));
    }
    if (!(AccessPath.choose(shape.table(), shape.columns(), conjuncts, rex)
            instanceof PlanNode.IndexScan scan)
        || scan.equals().stream().noneMatch(value -> namesParameter(value, first))) {
      return null;
    }
    double found = found(base, scan);
    if (outerRows * (LOOKUP + FOUND_ROW * found) > tableRows) {
      return null;
    }
    translator.expect(scan, Math.max(1, PlanTranslator.rows(inner) / tableRows * found));
    PlanNode right =
        above == null
            ? scan
            : new PlanNode.Project(scan, ExprTranslator.translate(above.getProjects()));
    return new PlanNode.Correlate(translator.translate(outer), right, kind, used.toArray(), first);
  }

  private static TableScan base(RelNode scan) {
    RelNode rel = scan;
    while (!(rel instanceof TableScan table)) {
      rel = rel.getInput(0);
    }
    return table;
  }

  /// Rows that a look finds before they are filtered.
  private static double found(TableScan base, PlanNode.IndexScan scan) {
    CatalogTable table = (CatalogTable) base.getTable();
    List<Integer> columns =
        table.table().indexes().get(scan.index()).columns().subList(0, scan.equals().size());
    if (table.isKey(ImmutableBitSet.of(columns))) {
      return 1;
    }
    double values = 1;
    for (int column : columns) {
      values *= new ColumnOrigin(base, table, column).distinct();
    }
    return Math.max(1, table.getRowCount() / values);
  }

  private static boolean namesParameter(Expr value, int first) {
    boolean[] found = {false};
    new ExprRewriter() {
      @Override
      public Expr parameter(Expr.Parameter parameter) {
        found[0] |= parameter.index() >= first;
        return parameter;
      }
    }.rewrite(value);
    return found[0];
  }
}
