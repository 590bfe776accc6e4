package dev.kakehashi.engine.sql.algebra;

import dev.kakehashi.engine.expr.Expr;
import dev.kakehashi.engine.expr.ExprRewriter;
import dev.kakehashi.engine.type.application.ApplicationScalar;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;

/// Costs of functions of applications in an expression; PostgreSQL's own are all taken to be cheap.
final class CallCosts {
  private CallCosts() {}

  /// Terms of a conjunction in the order in which they are best computed: those that call expensive functions last, else as written.
  static List<Expr> cheapFirst(List<Expr> terms) {
    double[] costs = terms.stream().mapToDouble(CallCosts::of).toArray();
    boolean any = false;
    for (double cost : costs) {
      any |= cost > 0;
    }
    if (!any) {
      return terms;
    }
    List<Integer> order = new ArrayList<>();
    for (int i = 0; i < costs.length; i++) {
      order.add(i);
    }
    order.sort(Comparator.comparingDouble(i -> costs[i]));
    return order.stream().map(terms::get).toList();
  }

  /// Cost of all calls of functions of applications in an expression.
  static double of(Expr expr) {
    double[] sum = {0};
    var _ =
        new ExprRewriter() {
          @Override
          public Expr.Call call(Expr.Call call) {
            if (call.function().body() instanceof ApplicationScalar function) {
              sum[0] += function.cost();
            }
            return call;
          }
        }.rewrite(expr);
    return sum[0];
  }
}
