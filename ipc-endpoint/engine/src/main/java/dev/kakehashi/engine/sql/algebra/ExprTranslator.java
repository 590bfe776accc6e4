package dev.kakehashi.engine.sql.algebra;

import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.engine.expr.Expr;
import dev.kakehashi.engine.sql.algebra.PgOperators.ConstantOperator;
import dev.kakehashi.engine.sql.algebra.PgOperators.FunctionOperator;
import dev.kakehashi.engine.type.CastContext;
import dev.kakehashi.engine.type.ScalarFunction;
import dev.kakehashi.engine.type.SqlType;
import dev.kakehashi.engine.type.Types;
import dev.kakehashi.engine.type.registry.Functions;
import dev.kakehashi.engine.type.value.Casts;
import dev.kakehashi.engine.type.value.Values;
import dev.kakehashi.engine.vector.Interrupts;
import dev.kakehashi.engine.vector.VarHeap;
import dev.kakehashi.protocol.ErrorCode;
import dev.kakehashi.protocol.TypeOid;
import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.List;
import org.apache.calcite.rex.RexCall;
import org.apache.calcite.rex.RexDynamicParam;
import org.apache.calcite.rex.RexInputRef;
import org.apache.calcite.rex.RexLiteral;
import org.apache.calcite.rex.RexNode;
import org.apache.calcite.rex.RexUtil;
import org.apache.calcite.sql.SqlOperator;

/// Turns Calcite's row expressions into ours.
public final class ExprTranslator {
  private ExprTranslator() {}

  public static List<Expr> translate(List<? extends RexNode> nodes) {
    List<Expr> result = new ArrayList<>(nodes.size());
    nodes.forEach(node -> result.add(translate(node)));
    return result;
  }

  public static Expr translate(RexNode node) {
    Interrupts.check();
    return switch (node) {
      case RexInputRef reference -> new Expr.Column(reference.getIndex(), oid(node));
      case RexLiteral literal -> literal(literal);
      case CountExpression count -> translate(count.expression);
      case RexDynamicParam parameter -> new Expr.Parameter(parameter.getIndex(), oid(node));
      case RexCall call -> call(call);
      default -> throw unsupported("expression " + node);
    };
  }

  public static EngineException unsupported(String what) {
    return new EngineException(ErrorCode.FEATURE_NOT_SUPPORTED, what + " is not supported");
  }

  private static int oid(RexNode node) {
    return PgType.of(node.getType()).oid();
  }

  private static Expr literal(RexLiteral literal) {
    int oid = oid(literal);
    if (literal.isNull()) {
      return Expr.Constant.nullOf(oid);
    }
    if (oid == TypeOid.BOOL) {
      return Expr.Constant.of(RexLiteral.booleanValue(literal));
    }
    BigDecimal value = literal.getValueAs(BigDecimal.class);
    if (value == null) {
      throw new IllegalStateException("literal " + literal);
    }
    if (oid == TypeOid.NUMERIC) {
      try (VarHeap heap = new VarHeap()) {
        return constant(
            Constant.of(SqlType.of(oid), Values.parse(oid, value.toPlainString(), heap)));
      }
    }
    return Expr.Constant.of(oid, value.longValueExact());
  }

  private static Expr constant(Constant constant) {
    return new Expr.Constant(
        constant.type().oid(), constant.isNull(), constant.word(), constant.memory());
  }

  @SuppressWarnings("ReferenceEquality") // our operators are singletons
  private static Expr call(RexCall call) {
    SqlOperator operator = call.getOperator();
    if (operator instanceof ConstantOperator constant) {
      return constant(constant.constant);
    }
    if (operator instanceof FunctionOperator function) {
      return new Expr.Call(function.function, arguments(call, function.function));
    }
    List<RexNode> operands = call.getOperands();
    if (operator == PgOperators.CASE) {
      return caseOf(call);
    }
    if (operator == PgOperators.COALESCE) {
      return new Expr.Coalesce(oid(call), translate(operands));
    }
    if (operator == PgOperators.GREATEST || operator == PgOperators.LEAST) {
      return new Expr.Extreme(oid(call), operator == PgOperators.GREATEST, translate(operands));
    }
    if (operator instanceof PgOperators.RelabelOperator) {
      return relabel(translate(operands.getFirst()), oid(call));
    }
    if (operator == PgOperators.IN_LIST) {
      return inList(operands);
    }
    if (operator == PgOperators.IN_ARRAY) {
      return inArray(operands);
    }
    return standard(call);
  }

  private static Expr inList(List<RexNode> operands) {
    List<Expr> list = translate(operands.subList(1, operands.size()));
    Expr argument = translate(operands.getFirst());
    // The list was converted to the operands' common type; words of integers are the same in all
    // widths.
    return new Expr.InList(argument, list);
  }

  private static Expr inArray(List<RexNode> operands) {
    int element = TypeOid.element(PgType.oidOf(operands.get(1)));
    SqlType to = SqlType.of(PgType.oidOf(operands.get(0)));
    ScalarFunction cast =
        element == to.oid() || Casts.isBinaryCoercible(element, to.oid())
            ? null
            : Casts.find(element, to, CastContext.IMPLICIT);
    return new Expr.InArray(translate(operands.get(0)), translate(operands.get(1)), element, cast);
  }

  private static Expr caseOf(RexCall call) {
    List<RexNode> operands = call.getOperands();
    List<Expr> conditions = new ArrayList<>();
    List<Expr> values = new ArrayList<>();
    for (int i = 0; i + 1 < operands.size(); i += 2) {
      conditions.add(translate(operands.get(i)));
      values.add(translate(operands.get(i + 1)));
    }
    return new Expr.Case(oid(call), conditions, values, translate(operands.getLast()));
  }

  private static Expr standard(RexCall call) {
    List<RexNode> operands = call.getOperands();
    RexNode first = operands.getFirst();
    return switch (call.getKind()) {
      case AND -> new Expr.And(CallCosts.cheapFirst(translate(operands)));
      case OR -> new Expr.Or(translate(operands));
      case NOT -> new Expr.Not(translate(first));
      case IS_NULL, IS_UNKNOWN -> new Expr.IsNull(translate(first));
      case IS_NOT_NULL -> new Expr.Not(new Expr.IsNull(translate(first)));
      case IS_TRUE -> new Expr.IsBoolean(translate(first), true);
      case IS_FALSE -> new Expr.IsBoolean(translate(first), false);
      case IS_NOT_TRUE -> new Expr.Not(new Expr.IsBoolean(translate(first), true));
      case IS_NOT_FALSE -> new Expr.Not(new Expr.IsBoolean(translate(first), false));
      case EQUALS, NOT_EQUALS, LESS_THAN, LESS_THAN_OR_EQUAL, GREATER_THAN, GREATER_THAN_OR_EQUAL ->
          comparison(call);
      case IS_DISTINCT_FROM -> new Expr.IsDistinct(translate(first), translate(operands.get(1)));
      case IS_NOT_DISTINCT_FROM ->
          new Expr.Not(new Expr.IsDistinct(translate(first), translate(operands.get(1))));
      case PLUS, MINUS -> comparison(call);
      case CAST -> cast(call);
      case CASE -> caseOf(call);
      case COALESCE -> new Expr.Coalesce(oid(call), translate(operands));
      case SEARCH ->
          translate(
              RexUtil.expandSearch(
                  new org.apache.calcite.rex.RexBuilder(new PgTypeFactory()), null, call));
      default -> throw unsupported("operator " + call.getOperator().getName());
    };
  }

  private static Expr comparison(RexCall call) {
    int[] oids = {oid(call.getOperands().get(0)), oid(call.getOperands().get(1))};
    String name = call.getOperator().getName();
    ScalarFunction function = Functions.resolve(name, oids);
    if (function == null) {
      throw new IllegalStateException("no comparison " + Functions.describe(name, oids));
    }
    return new Expr.Call(function, arguments(call, function));
  }

  private static List<Expr> arguments(RexCall call, ScalarFunction function) {
    List<Expr> arguments = new ArrayList<>();
    for (int i = 0; i < call.getOperands().size(); i++) {
      Expr argument = translate(call.getOperands().get(i));
      int declared = function.argumentOids()[i];
      arguments.add(argument.typeOid() == declared ? argument : relabel(argument, declared));
    }
    return arguments;
  }

  /// The same word as another type; a conversion where the word differs.
  private static Expr relabel(Expr value, int toOid) {
    return switch (value) {
      case Expr.Column column -> new Expr.Column(column.index(), toOid);
      case Expr.Constant constant when Casts.isBinaryCoercible(constant.typeOid(), toOid) ->
          new Expr.Constant(toOid, constant.isNull(), constant.word(), constant.owner());
      default -> convert(value, SqlType.of(toOid));
    };
  }

  private static Expr cast(RexCall call) {
    Expr value = translate(call.getOperands().getFirst());
    SqlType to = PgType.of(call.getType());
    return value.typeOid() == to.oid() ? value : convert(value, to);
  }

  private static Expr convert(Expr value, SqlType to) {
    ScalarFunction cast = Casts.find(value.typeOid(), to, CastContext.EXPLICIT);
    if (cast == null) {
      throw new IllegalStateException(
          "no cast from " + Types.name(value.typeOid()) + " to " + Types.name(to.oid()));
    }
    return new Expr.Call(cast, List.of(value));
  }
}
