package dev.kakehashi.engine.sql.algebra;

import dev.kakehashi.engine.vector.Interrupts;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import org.apache.calcite.rel.RelNode;
import org.apache.calcite.rel.RelVisitor;
import org.apache.calcite.rel.core.Correlate;
import org.apache.calcite.rel.core.CorrelationId;
import org.apache.calcite.rex.RexCorrelVariable;
import org.apache.calcite.rex.RexFieldAccess;
import org.apache.calcite.rex.RexNode;
import org.apache.calcite.rex.RexShuttle;
import org.apache.calcite.rex.RexSubQuery;
import org.jspecify.annotations.Nullable;

/// Columns of queries around them that relations name, also in subqueries of their expressions.
final class OuterColumns {
  private final Set<CorrelationId> own = new HashSet<>();
  private final Set<RexNode> accesses = new LinkedHashSet<>();

  private OuterColumns() {}

  static List<RexNode> of(RelNode... rels) {
    OuterColumns columns = new OuterColumns();
    for (RelNode rel : rels) {
      columns.collect(rel);
    }
    List<RexNode> outer = new ArrayList<>();
    for (RexNode access : columns.accesses) {
      if (!columns.own.contains(variable((RexFieldAccess) access).id)) {
        outer.add(access);
      }
    }
    return outer;
  }

  private static RexCorrelVariable variable(RexFieldAccess access) {
    return (RexCorrelVariable) access.getReferenceExpr();
  }

  private void collect(RelNode rel) {
    RexShuttle collector =
        new RexShuttle() {
          @Override
          public RexNode visitFieldAccess(RexFieldAccess access) {
            if (access.getReferenceExpr() instanceof RexCorrelVariable) {
              accesses.add(access);
            }
            return access;
          }

          @Override
          public RexNode visitSubQuery(RexSubQuery subquery) {
            collect(subquery.rel);
            return super.visitSubQuery(subquery);
          }
        };
    new RelVisitor() {
      @Override
      public void visit(RelNode node, int ordinal, @Nullable RelNode parent) {
        Interrupts.check();
        own.addAll(node.getVariablesSet());
        if (node instanceof Correlate correlate) {
          own.add(correlate.getCorrelationId());
        }
        node.accept(collector);
        super.visit(node, ordinal, parent);
      }
    }.go(rel);
  }

  /// The relation with other expressions in place of such columns.
  ///
  /// @param columns as [#of] gives them
  static RelNode replaced(RelNode rel, List<RexNode> columns, List<RexNode> replacements) {
    if (columns.isEmpty()) {
      return rel;
    }
    RexShuttle replacing =
        new RexShuttle() {
          @Override
          public RexNode visitFieldAccess(RexFieldAccess access) {
            int column = columns.indexOf(access);
            return column < 0 ? access : replacements.get(column);
          }

          @Override
          public RexNode visitSubQuery(RexSubQuery subquery) {
            RexSubQuery replaced = (RexSubQuery) super.visitSubQuery(subquery);
            return replaced.clone(replaced(subquery.rel, columns, replacements));
          }
        };
    return BottomUp.rewrite(rel, each -> each.accept(replacing));
  }
}
