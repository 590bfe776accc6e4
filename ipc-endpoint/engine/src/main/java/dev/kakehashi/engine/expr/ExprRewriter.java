package dev.kakehashi.engine.expr;

import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;

/// Rebuilds expressions with their columns and parameters replaced.
public abstract class ExprRewriter {
  /// Replacement of a column.
  public Expr column(Expr.Column column) {
    return column;
  }

  /// Replacement of a parameter.
  public Expr parameter(Expr.Parameter parameter) {
    return parameter;
  }

  /// Called for each function before its arguments are rewritten.
  public Expr.Call call(Expr.Call call) {
    return call;
  }

  /// Whether the expression needs a row.
  public static boolean hasColumns(Expr expr) {
    return !columns(expr).isEmpty();
  }

  /// Columns that the expression needs.
  public static BitSet columns(Expr expr) {
    ColumnFinder finder = new ColumnFinder();
    finder.rewrite(expr);
    return finder.found;
  }

  /// Columns whose words the expression needs as addresses, if they are by reference: all but the arguments of [NumericKernels].
  public static BitSet columnsInMemory(Expr expr) {
    ColumnFinder finder =
        new ColumnFinder() {
          @Override
          public Expr.Call call(Expr.Call call) {
            return NumericKernels.takesCompact(call) ? withoutColumns(call) : call;
          }
        };
    finder.rewrite(expr);
    return finder.found;
  }

  private static class ColumnFinder extends ExprRewriter {
    final BitSet found = new BitSet();

    @Override
    public Expr column(Expr.Column column) {
      found.set(column.index());
      return column;
    }
  }

  /// A call without those of its arguments that are columns.
  private static Expr.Call withoutColumns(Expr.Call call) {
    return new Expr.Call(
        call.function(),
        call.arguments().stream().filter(argument -> !(argument instanceof Expr.Column)).toList());
  }

  /// Whether computing the expression once more within its statement gives the same, and does nothing else.
  public static boolean isRepeatable(Expr expr) {
    boolean[] found = {false};
    var _ =
        new ExprRewriter() {
          @Override
          public Expr.Call call(Expr.Call call) {
            found[0] |= call.function().isVolatile();
            return call;
          }
        }.rewrite(expr);
    return !found[0];
  }

  /// Whether nothing but the values of its columns, now and ever, decides what the expression gives.
  static boolean isOfColumnsAlone(Expr expr) {
    boolean[] found = {false};
    var _ =
        new ExprRewriter() {
          @Override
          public Expr parameter(Expr.Parameter parameter) {
            found[0] = true;
            return parameter;
          }

          @Override
          public Expr.Call call(Expr.Call call) {
            found[0] |= !call.function().immutable() || call.function().isVolatile();
            return call;
          }
        }.rewrite(expr);
    return !found[0];
  }

  /// The expression with every column and parameter replaced.
  public final Expr rewrite(Expr expr) {
    return switch (expr) {
      case Expr.Column column -> column(column);
      case Expr.Parameter parameter -> parameter(parameter);
      case Expr.Constant constant -> constant;
      case Expr.Call call -> {
        Expr.Call next = call(call);
        yield new Expr.Call(next.function(), rewrite(next.arguments()));
      }
      case Expr.And and -> new Expr.And(rewrite(and.terms()));
      case Expr.Or or -> new Expr.Or(rewrite(or.terms()));
      case Expr.Not not -> new Expr.Not(rewrite(not.argument()));
      case Expr.IsNull is -> new Expr.IsNull(rewrite(is.argument()));
      case Expr.IsBoolean is -> new Expr.IsBoolean(rewrite(is.argument()), is.value());
      case Expr.IsDistinct is -> new Expr.IsDistinct(rewrite(is.left()), rewrite(is.right()));
      case Expr.Case c ->
          new Expr.Case(
              c.typeOid(), rewrite(c.conditions()), rewrite(c.values()), rewrite(c.otherwise()));
      case Expr.Coalesce c -> new Expr.Coalesce(c.typeOid(), rewrite(c.arguments()));
      case Expr.InList in -> new Expr.InList(rewrite(in.argument()), rewrite(in.list()));
      case Expr.InArray in ->
          new Expr.InArray(rewrite(in.argument()), rewrite(in.array()), in.elementOid(), in.cast());
      case Expr.Extreme e -> new Expr.Extreme(e.typeOid(), e.greatest(), rewrite(e.arguments()));
    };
  }

  /// Each of several expressions rewritten.
  public final List<Expr> rewrite(List<Expr> expressions) {
    List<Expr> out = new ArrayList<>(expressions.size());
    for (Expr expr : expressions) {
      out.add(rewrite(expr));
    }
    return out;
  }
}
