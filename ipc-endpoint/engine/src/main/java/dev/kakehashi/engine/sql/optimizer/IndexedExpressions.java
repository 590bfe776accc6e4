package dev.kakehashi.engine.sql.optimizer;

import dev.kakehashi.engine.sql.algebra.CatalogTable;
import dev.kakehashi.engine.sql.algebra.Inspection;
import dev.kakehashi.engine.sql.algebra.LockedRows;
import dev.kakehashi.engine.sql.table.TableExpressions;
import java.util.List;
import java.util.Map;
import org.apache.calcite.plan.RelOptUtil.InputFinder;
import org.apache.calcite.rel.RelHomogeneousShuttle;
import org.apache.calcite.rel.RelNode;
import org.apache.calcite.rel.core.Correlate;
import org.apache.calcite.rel.core.Filter;
import org.apache.calcite.rel.core.Join;
import org.apache.calcite.rel.core.JoinRelType;
import org.apache.calcite.rel.core.Project;
import org.apache.calcite.rel.core.Sort;
import org.apache.calcite.rel.core.TableScan;
import org.apache.calcite.rex.RexBuilder;
import org.apache.calcite.rex.RexCall;
import org.apache.calcite.rex.RexInputRef;
import org.apache.calcite.rex.RexNode;
import org.apache.calcite.rex.RexShuttle;
import org.apache.calcite.rex.RexSubQuery;
import org.apache.calcite.util.ImmutableBitSet;
import org.jspecify.annotations.Nullable;

/// Expressions that a table has an index over become the hidden columns with their values, so that all that is done with columns is done
/// with them: access by an index, order, statistics, joins by look-ups. That holds where the table's rows are as they are: not above the
/// side of an outer join whose rows may be missing, of which the expression has a value and the column has none.
public final class IndexedExpressions {
  private IndexedExpressions() {}

  /// The same query.
  public static RelNode use(RelNode query) {
    // Tables that a subquery reads are seen when the rewrite comes to it.
    boolean may = Inspection.any(query, IndexedExpressions::has) || Inspection.hasSubquery(query);
    return may ? query.accept(new Nodes()) : query;
  }

  private static boolean has(RelNode node) {
    return node instanceof TableScan scan
        && scan.getTable() instanceof CatalogTable table
        && table.table().hasHidden();
  }

  /// A scan's columns among those of a relation, one after the other from `first` on.
  private record Place(CatalogTable table, int first) {}

  private static @Nullable Place place(RelNode node, int index) {
    RelNode rel = node.stripped();
    return switch (rel) {
      case TableScan scan ->
          scan.getTable() instanceof CatalogTable table
                  && table.table().hasHidden()
                  && index < table.table().columns().size()
              ? new Place(table, 0)
              : null;
      case Filter filter -> place(filter.getInput(), index);
      case LockedRows locked -> place(locked.getInput(), index);
      case Sort sort -> place(sort.getInput(), index);
      case Join join -> side(join.getLeft(), join.getRight(), join.getJoinType(), index);
      case Correlate correlate ->
          side(correlate.getLeft(), correlate.getRight(), correlate.getJoinType(), index);
      default -> null;
    };
  }

  private static @Nullable Place side(RelNode left, RelNode right, JoinRelType type, int index) {
    int count = left.getRowType().getFieldCount();
    if (index < count) {
      return type.generatesNullsOnLeft() ? null : place(left, index);
    }
    Place place = type.generatesNullsOnRight() ? null : place(right, index - count);
    return place == null ? null : new Place(place.table, place.first + count);
  }

  private static final class Nodes extends RelHomogeneousShuttle {
    @Override
    public RelNode visit(RelNode node) {
      RelNode rel = super.visit(node);
      return rel instanceof Filter || rel instanceof Project || rel instanceof Join
          ? rel.accept(new Expressions(rel.getInputs(), rel.getCluster().getRexBuilder()))
          : rel;
    }
  }

  private static final class Expressions extends RexShuttle {
    private final List<RelNode> inputs;
    private final RexBuilder rex;

    Expressions(List<RelNode> inputs, RexBuilder rex) {
      this.inputs = inputs;
      this.rex = rex;
    }

    @Override
    public RexNode visitCall(RexCall call) {
      RexNode column = column(call);
      return column == null ? super.visitCall(call) : column;
    }

    @Override
    public RexNode visitSubQuery(RexSubQuery subquery) {
      RexNode outer = super.visitSubQuery(subquery);
      if (!(outer instanceof RexSubQuery inner)) {
        return outer;
      }
      RelNode used = use(inner.rel);
      return used.equals(inner.rel) ? outer : inner.clone(used);
    }

    private @Nullable RexNode column(RexCall call) {
      ImmutableBitSet used = InputFinder.bits(call);
      Place place = used.isEmpty() ? null : of(used.nth(0));
      if (place == null) {
        return null;
      }
      int columns = place.table.table().columns().size();
      if (used.nth(0) < place.first || used.length() > place.first + columns) {
        return null;
      }
      RexNode moved = moved(call, place);
      for (Map.Entry<Integer, RexNode> indexed : TableExpressions.indexed(place.table).entrySet()) {
        if (indexed.getValue().equals(moved)) {
          return rex.makeInputRef(
              place.table.getRowType().getFieldList().get(indexed.getKey()).getType(),
              place.first + indexed.getKey());
        }
      }
      return null;
    }

    private @Nullable Place of(int index) {
      if (inputs.size() == 1) {
        return place(inputs.getFirst(), index);
      }
      int left = inputs.getFirst().getRowType().getFieldCount();
      if (index < left) {
        return place(inputs.getFirst(), index);
      }
      Place place = place(inputs.getLast(), index - left);
      return place == null ? null : new Place(place.table, place.first + left);
    }

    /// The expression over the table alone.
    private RexNode moved(RexNode node, Place place) {
      return node.accept(
          new RexShuttle() {
            @Override
            public RexNode visitInputRef(RexInputRef reference) {
              int column = reference.getIndex() - place.first;
              return rex.makeInputRef(
                  place.table.getRowType().getFieldList().get(column).getType(), column);
            }
          });
    }
  }
}
