package dev.kakehashi.engine.exec.dml;

import dev.kakehashi.engine.expr.Expr;
import dev.kakehashi.engine.expr.ExprRewriter;
import dev.kakehashi.engine.plan.PlanNode;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// Recognises `INSERT ... VALUES (expressions of parameters)`: its rows of parameters can be computed and inserted a batch at a time.
public final class InsertedParameters {
  private InsertedParameters() {}

  /// The source as a projection of parameter rows; null if it is something else.
  public static @Nullable PlanNode find(PlanNode source, int[] parameterOids) {
    List<Expr> row = singleRow(source);
    if (row == null || parameterOids.length == 0) {
      return null;
    }
    ExprRewriter toColumns =
        new ExprRewriter() {
          @Override
          public Expr parameter(Expr.Parameter parameter) {
            return new Expr.Column(parameter.index(), parameter.typeOid());
          }
        };
    return new PlanNode.Project(new PlanNode.ParameterRows(parameterOids), toColumns.rewrite(row));
  }

  private static @Nullable List<Expr> singleRow(PlanNode node) {
    if (node instanceof PlanNode.Values values) {
      return values.rows().size() == 1 ? values.rows().get(0) : null;
    }
    if (node instanceof PlanNode.Project project) {
      List<Expr> input = singleRow(project.input());
      if (input == null) {
        return null;
      }
      ExprRewriter substitute =
          new ExprRewriter() {
            @Override
            public Expr column(Expr.Column column) {
              return input.get(column.index());
            }
          };
      return substitute.rewrite(project.expressions());
    }
    return null;
  }
}
