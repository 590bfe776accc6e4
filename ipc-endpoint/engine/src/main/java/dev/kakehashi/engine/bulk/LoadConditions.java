package dev.kakehashi.engine.bulk;

import dev.kakehashi.engine.api.bulk.LoadCondition;
import dev.kakehashi.engine.api.bulk.LoadCondition.Operator;
import dev.kakehashi.engine.expr.Expr;
import dev.kakehashi.engine.plan.LoadPlan;
import dev.kakehashi.engine.type.Varlena;
import dev.kakehashi.engine.type.numeric.NumericForm;
import dev.kakehashi.protocol.TypeOid;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// Parts of a load's condition that its files may know: comparisons of a column with a constant. The load looks at the whole condition
/// itself.
final class LoadConditions {
  private final LoadPlan plan;
  private final List<LoadCondition> found = new ArrayList<>();

  private LoadConditions(LoadPlan plan) {
    this.plan = plan;
  }

  /// Conditions that each row fulfils that is wanted; maybe none.
  static List<LoadCondition> of(LoadPlan plan) {
    Expr where = plan.where();
    if (where == null) {
      return List.of();
    }
    LoadConditions conditions = new LoadConditions(plan);
    conditions.add(where);
    return List.copyOf(conditions.found);
  }

  private void add(Expr term) {
    switch (term) {
      case Expr.And and -> and.terms().forEach(this::add);
      case Expr.IsNull(Expr.Column column) -> add(column, Operator.IS_NULL, null);
      case Expr.Not(Expr.IsNull(Expr.Column column)) -> add(column, Operator.IS_NOT_NULL, null);
      case Expr.Call call when call.arguments().size() == 2 -> {
        Operator operator = operator(call.function().name());
        if (operator == null) {
          return;
        }
        if (call.arguments().get(0) instanceof Expr.Column column
            && call.arguments().get(1) instanceof Expr.Constant constant) {
          add(column, operator, constant);
        } else if (call.arguments().get(0) instanceof Expr.Constant constant
            && call.arguments().get(1) instanceof Expr.Column column) {
          add(column, turned(operator), constant);
        }
      }
      default -> {}
    }
  }

  private void add(Expr.Column column, Operator operator, Expr.@Nullable Constant constant) {
    for (int i = 0; i < plan.positions().length; i++) {
      if (plan.positions()[i] == column.index()) {
        Object value =
            constant == null || constant.isNull()
                ? null
                : value(plan.columns().get(i).typeOid(), constant);
        if (constant == null || value != null) {
          found.add(new LoadCondition(i, operator, value));
        }
      }
    }
  }

  private static @Nullable Operator operator(String name) {
    return switch (name) {
      case "<" -> Operator.LESS;
      case "<=" -> Operator.LESS_OR_EQUAL;
      case "=" -> Operator.EQUAL;
      case ">=" -> Operator.GREATER_OR_EQUAL;
      case ">" -> Operator.GREATER;
      default -> null;
    };
  }

  /// With its sides changed.
  private static Operator turned(Operator operator) {
    return switch (operator) {
      case LESS -> Operator.GREATER;
      case LESS_OR_EQUAL -> Operator.GREATER_OR_EQUAL;
      case GREATER_OR_EQUAL -> Operator.LESS_OR_EQUAL;
      case GREATER -> Operator.LESS;
      default -> operator;
    };
  }

  /// Null: columns of the type are not compared with it as their values lie in order.
  private static @Nullable Object value(int columnOid, Expr.Constant constant) {
    int oid = constant.typeOid();
    long word = constant.word();
    return switch (columnOid) {
      case TypeOid.INT2, TypeOid.INT4, TypeOid.INT8 ->
          oid == TypeOid.INT2 || oid == TypeOid.INT4 || oid == TypeOid.INT8 ? (Long) word : null;
      case TypeOid.DATE, TypeOid.TIMESTAMP, TypeOid.TIMESTAMPTZ ->
          oid == columnOid ? (Long) word : null;
      case TypeOid.FLOAT4, TypeOid.FLOAT8 -> floating(oid, word);
      case TypeOid.NUMERIC -> oid == TypeOid.NUMERIC ? finite(word) : null;
      case TypeOid.TEXT, TypeOid.VARCHAR ->
          oid == TypeOid.TEXT || oid == TypeOid.VARCHAR ? Varlena.string(word) : null;
      default -> null;
    };
  }

  private static @Nullable Object floating(int oid, long word) {
    double value =
        oid == TypeOid.FLOAT8
            ? Double.longBitsToDouble(word)
            : oid == TypeOid.FLOAT4 ? Float.intBitsToFloat((int) word) : Double.NaN;
    return Double.isNaN(value) ? null : (Object) value;
  }

  private static @Nullable Object finite(long word) {
    return NumericForm.isSpecial(word) ? null : NumericForm.toBigDecimal(word);
  }
}
