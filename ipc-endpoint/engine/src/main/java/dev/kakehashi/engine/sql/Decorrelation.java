package dev.kakehashi.engine.sql;

import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.apache.calcite.plan.Convention;
import org.apache.calcite.plan.RelOptUtil;
import org.apache.calcite.rel.AbstractRelNode;
import org.apache.calcite.rel.RelHomogeneousShuttle;
import org.apache.calcite.rel.RelNode;
import org.apache.calcite.rel.RelVisitor;
import org.apache.calcite.rel.RelWriter;
import org.apache.calcite.rel.core.Correlate;
import org.apache.calcite.rel.core.CorrelationId;
import org.apache.calcite.rel.core.Filter;
import org.apache.calcite.rel.core.Join;
import org.apache.calcite.rel.logical.LogicalProject;
import org.apache.calcite.rel.metadata.RelMetadataQuery;
import org.apache.calcite.rex.RexBuilder;
import org.apache.calcite.rex.RexNode;
import org.apache.calcite.rex.RexUtil;
import org.apache.calcite.sql2rel.RelDecorrelator;
import org.apache.calcite.tools.RelBuilder;
import org.jspecify.annotations.Nullable;

/// Turns correlated subqueries and LATERAL into joins, by Calcite's decorrelator.
///
/// It is asked for one at a time, from the inside, and not for those of which it makes joins that lose rows: what an outer join gives nulls for has no values of the outer query any more.
/// So what names a query two levels up, or the outer query inside of an outer join or in more than one WHERE, stays as it is and is evaluated for each row.
final class Decorrelation {
  private final RelBuilder builder;

  private Decorrelation(RelBuilder builder) {
    this.builder = builder;
  }

  static RelNode apply(RelNode rel, RelBuilder builder) {
    return new Decorrelation(builder).visit(rel);
  }

  private RelNode visit(RelNode rel) {
    return rel.accept(
        new RelHomogeneousShuttle() {
          @Override
          public RelNode visit(RelNode other) {
            RelNode visited = super.visit(other);
            return visited instanceof Correlate correlate ? joined(correlate) : visited;
          }
        });
  }

  private RelNode joined(Correlate correlate) {
    CorrelationId id = correlate.getCorrelationId();
    Set<CorrelationId> outer = new HashSet<>(RelOptUtil.getVariablesUsed(correlate));
    outer.remove(id);
    if (!outer.isEmpty()
        || Inspection.count(correlate, Correlate.class) > 1
        || insideOuterJoin(correlate.getRight(), id)
        || filters(correlate.getRight()) > 1) {
      return correlate;
    }
    RelNode left = correlate.getLeft();
    // Calcite takes a column for never null that an outer join compares by =, if it sees the join.
    boolean hidden = hasOuterJoin(left);
    RelNode visible =
        hidden
            ? correlate.copy(
                correlate.getTraitSet(), List.of(new Hidden(left), correlate.getRight()))
            : correlate;
    // Calcite's join has more columns; the project keeps what is above from seeing them.
    RexBuilder rex = correlate.getCluster().getRexBuilder();
    List<RexNode> columns = List.copyOf(rex.identityProjects(correlate.getRowType()));
    RelNode project =
        LogicalProject.create(
            visible, List.of(), columns, correlate.getRowType().getFieldNames(), Set.of());
    RelNode joined = RelDecorrelator.decorrelateQuery(project, builder);
    return hidden ? shown(joined) : joined;
  }

  private static boolean insideOuterJoin(RelNode rel, CorrelationId id) {
    boolean[] found = {false};
    new RelVisitor() {
      @Override
      public void visit(RelNode node, int ordinal, @Nullable RelNode parent) {
        if (node instanceof Join join && join.getJoinType().isOuterJoin()) {
          found[0] |= RelOptUtil.getVariablesUsed(join).contains(id);
        }
        super.visit(node, ordinal, parent);
      }
    }.go(rel);
    return found[0];
  }

  /// The number of filters that name the outer query.
  private static int filters(RelNode rel) {
    int[] count = {0};
    new RelVisitor() {
      @Override
      public void visit(RelNode node, int ordinal, @Nullable RelNode parent) {
        if (node instanceof Filter filter
            && RexUtil.containsCorrelation(filter.getCondition())
            && !(parent instanceof Filter)) {
          count[0]++;
        }
        super.visit(node, ordinal, parent);
      }
    }.go(rel);
    return count[0];
  }

  private static boolean hasOuterJoin(RelNode rel) {
    boolean[] found = {false};
    new RelVisitor() {
      @Override
      public void visit(RelNode node, int ordinal, @Nullable RelNode parent) {
        found[0] |= node instanceof Join join && join.getJoinType().isOuterJoin();
        super.visit(node, ordinal, parent);
      }
    }.go(rel);
    return found[0];
  }

  private static RelNode shown(RelNode rel) {
    return rel.accept(
        new RelHomogeneousShuttle() {
          @Override
          public RelNode visit(RelNode other) {
            return other instanceof Hidden hidden ? hidden.rel : super.visit(other);
          }
        });
  }

  /// Stands for rows whose making is not to be looked at.
  private static final class Hidden extends AbstractRelNode {
    final RelNode rel;

    Hidden(RelNode rel) {
      super(rel.getCluster(), rel.getCluster().traitSetOf(Convention.NONE));
      this.rel = rel;
      this.rowType = rel.getRowType();
    }

    @Override
    public double estimateRowCount(RelMetadataQuery metadata) {
      return metadata.getRowCount(rel);
    }

    @Override
    public RelWriter explainTerms(RelWriter writer) {
      return super.explainTerms(writer).item("rows", rel.getId());
    }
  }
}
