package dev.kakehashi.engine.sql.cost;

import dev.kakehashi.engine.expr.Expr;
import dev.kakehashi.engine.expr.ExprRewriter;
import dev.kakehashi.engine.plan.PlanNode;
import dev.kakehashi.engine.sql.algebra.CatalogTable;
import dev.kakehashi.engine.sql.algebra.ColumnOrigin;
import dev.kakehashi.engine.sql.algebra.ScanShape;
import dev.kakehashi.engine.sql.cardinality.Selectivity;
import java.util.ArrayList;
import java.util.List;
import org.apache.calcite.plan.RelOptUtil;
import org.apache.calcite.rel.RelNode;
import org.apache.calcite.rel.core.Project;
import org.apache.calcite.rel.core.TableScan;
import org.apache.calcite.rex.RexBuilder;
import org.apache.calcite.rex.RexCorrelVariable;
import org.apache.calcite.rex.RexFieldAccess;
import org.apache.calcite.rex.RexInputRef;
import org.apache.calcite.rex.RexNode;
import org.apache.calcite.rex.RexOver;
import org.apache.calcite.rex.RexShuttle;
import org.apache.calcite.rex.RexUtil;
import org.apache.calcite.util.ImmutableBitSet;
import org.jspecify.annotations.Nullable;

/// A look at an index for the rows of a table that belong to one row of something else.
///
/// @param scan finds them, with values of the other row as parameters
/// @param above columns that are taken of what the scan gives; null: all
/// @param found rows that a look finds before they are filtered
public record IndexLookup(PlanNode.IndexScan scan, @Nullable Project above, double found) {
  /// Behind all parameters that a statement has: for a look that is only reckoned with.
  public static final int NO_PARAMETER = 1 << 20;

  /// How a reference of a join's condition to a column of the inner side, by the position there, is one of the table's scan.
  private record Inner(@Nullable Project above, ScanShape shape) {
    static @Nullable Inner of(RelNode rel, RexBuilder rex) {
      // Columns that only the table's own filter needs are left out above it.
      Project above =
          rel instanceof Project project && ScanShape.of(rel, rex) == null ? project : null;
      ScanShape shape = ScanShape.of(above == null ? rel : above.getInput(), rex);
      return shape == null
              || shape.table().isSystem()
              || (above != null && RexOver.containsOver(above.getProjects(), null))
          ? null
          : new Inner(above, shape);
    }
  }

  /// The look at the index that suits best; null if the relation is no table with an index of what the terms bind.
  ///
  /// @param terms deterministic; over the relation's columns, and parameters from `firstParameter` on for what is of the other row
  public static @Nullable IndexLookup of(
      RelNode rel, List<RexNode> terms, int firstParameter, RexBuilder rex) {
    Inner inner = Inner.of(rel, rex);
    if (inner == null) {
      return null;
    }
    List<RexNode> conjuncts = new ArrayList<>(inner.shape.conjuncts());
    for (RexNode term : terms) {
      conjuncts.add(inner.above == null ? term : below(term, inner.above));
    }
    if (!(AccessPath.choose(inner.shape.table(), inner.shape.columns(), known(conjuncts, rex), rex)
            instanceof PlanNode.IndexScan scan)
        || !isBound(scan, firstParameter)) {
      return null;
    }
    return new IndexLookup(scan, inner.above, found(base(rel), scan));
  }

  /// The look at an index for the inner rows that belong to one of the outer rows; null if there is none that suits.
  ///
  /// @param condition over the columns of the outer, then the inner side
  /// @param firstParameter from which on the lookup names columns of the outer row that the condition has
  public static @Nullable IndexLookup ofJoin(
      RelNode outer, RelNode inner, RexNode condition, int firstParameter) {
    if (!RexUtil.isDeterministic(condition)) {
      return null;
    }
    RexBuilder rex = outer.getCluster().getRexBuilder();
    int outerCount = outer.getRowType().getFieldCount();
    ImmutableBitSet used = outerColumns(outer, condition);
    List<RexNode> terms = new ArrayList<>();
    for (RexNode term : RelOptUtil.conjunctions(condition)) {
      terms.add(
          term.accept(
              new RexShuttle() {
                @Override
                public RexNode visitInputRef(RexInputRef reference) {
                  int index = reference.getIndex();
                  return index < outerCount
                      ? rex.makeDynamicParam(
                          reference.getType(), firstParameter + used.indexOf(index))
                      : rex.makeInputRef(reference.getType(), index - outerCount);
                }
              }));
    }
    return of(inner, terms, firstParameter, rex);
  }

  /// Columns of the outer side that a condition has.
  public static ImmutableBitSet outerColumns(RelNode outer, RexNode condition) {
    return RelOptUtil.InputFinder.bits(condition)
        .intersect(ImmutableBitSet.range(outer.getRowType().getFieldCount()));
  }

  /// Cost of reading all of a relation that is a table's scan. It is 0 for others, which cost the same in whatever order they are joined.
  public static double readCost(RelNode rel, double rows, RexBuilder rex) {
    Inner inner = Inner.of(rel, rex);
    if (inner == null) {
      return 0;
    }
    List<RexNode> conjuncts = known(inner.shape.conjuncts(), rex);
    boolean byIndex =
        AccessPath.choose(inner.shape.table(), inner.shape.columns(), conjuncts, rex)
            instanceof PlanNode.IndexScan;
    return byIndex
        ? JoinCost.lookups(1, rows)
        : base(rel).getTable().getRowCount() * JoinCost.READ_ROW;
  }

  /// Columns of the queries around are parameters, the same for all rows. Which ones is decided later.
  private static List<RexNode> known(List<RexNode> conjuncts, RexBuilder rex) {
    return parameters(rex).apply(conjuncts);
  }

  /// Makes parameters of the columns of the queries around.
  static RexShuttle parameters(RexBuilder rex) {
    return new RexShuttle() {
      @Override
      public RexNode visitFieldAccess(RexFieldAccess access) {
        return access.getReferenceExpr() instanceof RexCorrelVariable
            ? rex.makeDynamicParam(access.getType(), 0)
            : super.visitFieldAccess(access);
      }
    };
  }

  private static RexNode below(RexNode term, Project above) {
    return term.accept(
        new RexShuttle() {
          @Override
          public RexNode visitInputRef(RexInputRef reference) {
            return above.getProjects().get(reference.getIndex());
          }
        });
  }

  public static TableScan base(RelNode scan) {
    RelNode rel = scan;
    while (!(rel instanceof TableScan table)) {
      rel = rel.getInput(0);
    }
    return table;
  }

  /// Rows of the table that a scan finds by its columns that are bound by equality, and by a range with two ends that are not known.
  private static double found(TableScan base, PlanNode.IndexScan scan) {
    CatalogTable table = (CatalogTable) base.getTable();
    List<Integer> columns =
        table.table().indexes().get(scan.index()).columns().subList(0, scan.equals().size());
    if (table.isKey(ImmutableBitSet.of(columns))) {
      return 1;
    }
    double values =
        scan.lower() != null && scan.upper() != null ? 1 / Selectivity.DEFAULT_RANGE : 1;
    for (int column : columns) {
      values *= new ColumnOrigin(base, table, column).distinct();
    }
    return Math.max(1, table.getRowCount() / values);
  }

  /// Whether values of the other row say where to look: for a column that equals one of them, or for both ends of a range.
  private static boolean isBound(PlanNode.IndexScan scan, int firstParameter) {
    return scan.equals().stream().anyMatch(value -> namesParameter(value, firstParameter))
        || (scan.lower() != null
            && scan.upper() != null
            && namesParameter(scan.lower().value(), firstParameter)
            && namesParameter(scan.upper().value(), firstParameter));
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
