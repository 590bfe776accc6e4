package dev.kakehashi.engine.sql.explain;

import dev.kakehashi.engine.expr.Expr;
import dev.kakehashi.engine.plan.PlanNode;
import dev.kakehashi.engine.type.Types;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/// Expressions as EXPLAIN shows them.
final class ExpressionText {
  private ExpressionText() {}

  static String texts(List<Expr> expressions) {
    return expressions.stream().map(e -> String.valueOf(text(e))).collect(Collectors.joining(", "));
  }

  /// Values that the leading columns of an index are equal to.
  static String equals(PlanNode.IndexScan scan) {
    List<Expr> values = new ArrayList<>(scan.equals());
    if (scan.anyOf() == null) {
      return texts(values);
    }
    List<String> shown =
        new ArrayList<>(values.stream().map(e -> String.valueOf(text(e))).toList());
    shown.set(
        scan.anyOf().position(),
        switch (scan.anyOf().set()) {
          case Expr.InList in -> "any of " + texts(in.list());
          case Expr.InArray in -> "any of " + text(in.array());
          default -> throw new IllegalStateException("not a set: " + scan.anyOf().set());
        });
    return String.join(", ", shown);
  }

  static @Nullable String text(@Nullable Expr expression) {
    return switch (expression) {
      case null -> null;
      case Expr.Column column -> "#" + column.index();
      case Expr.Constant constant -> constant(constant);
      case Expr.Parameter parameter -> "$" + (parameter.index() + 1);
      case Expr.Call call ->
          call.arguments().size() == 2 && !Character.isLetter(call.function().name().charAt(0))
              ? "("
                  + text(call.arguments().get(0))
                  + " "
                  + call.function().name()
                  + " "
                  + text(call.arguments().get(1))
                  + ")"
              : call.function().name() + "(" + texts(call.arguments()) + ")";
      case Expr.And and -> joined(and.terms(), " AND ");
      case Expr.Or or -> joined(or.terms(), " OR ");
      case Expr.Not not -> "NOT " + text(not.argument());
      case Expr.IsNull isNull -> "(" + text(isNull.argument()) + " IS NULL)";
      case Expr.IsBoolean is -> "(" + text(is.argument()) + " IS " + is.value() + ")";
      case Expr.IsDistinct is ->
          "(" + text(is.left()) + " IS DISTINCT FROM " + text(is.right()) + ")";
      case Expr.Case c -> "CASE ... END";
      case Expr.Coalesce c -> "COALESCE(" + texts(c.arguments()) + ")";
      case Expr.InList in -> "(" + text(in.argument()) + " IN (" + texts(in.list()) + "))";
      case Expr.InArray in -> "(" + text(in.argument()) + " = ANY (" + text(in.array()) + "))";
      case Expr.Extreme e -> (e.greatest() ? "GREATEST(" : "LEAST(") + texts(e.arguments()) + ")";
    };
  }

  private static String joined(List<Expr> terms, String word) {
    return "("
        + terms.stream().map(t -> String.valueOf(text(t))).collect(Collectors.joining(word))
        + ")";
  }

  private static String constant(Expr.Constant constant) {
    return constant.isNull()
        ? "NULL"
        : "'"
            + dev.kakehashi.engine.type.value.Values.toText(constant.typeOid(), constant.word())
            + "'::"
            + Types.name(constant.typeOid());
  }
}
