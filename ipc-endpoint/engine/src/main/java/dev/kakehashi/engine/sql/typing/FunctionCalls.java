package dev.kakehashi.engine.sql.typing;

import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.engine.sql.algebra.Comparison;
import dev.kakehashi.engine.sql.algebra.Constant;
import dev.kakehashi.engine.sql.algebra.PgOperators;
import dev.kakehashi.engine.sql.algebra.PgType;
import dev.kakehashi.engine.type.CastContext;
import dev.kakehashi.engine.type.RowFunction;
import dev.kakehashi.engine.type.ScalarFunction;
import dev.kakehashi.engine.type.SqlType;
import dev.kakehashi.engine.type.Types;
import dev.kakehashi.engine.type.queue.QueueFunctions;
import dev.kakehashi.engine.type.registry.Functions;
import dev.kakehashi.engine.type.registry.RowFunctions;
import dev.kakehashi.engine.type.registry.VariadicArrays;
import dev.kakehashi.engine.type.time.ComparedTimes;
import dev.kakehashi.protocol.ErrorCode;
import dev.kakehashi.protocol.TypeOid;
import java.util.ArrayList;
import java.util.List;
import org.apache.calcite.rel.type.RelDataType;
import org.apache.calcite.rex.RexCall;
import org.apache.calcite.rex.RexNode;
import org.apache.calcite.sql.SqlBasicCall;
import org.apache.calcite.sql.SqlKind;
import org.apache.calcite.sql.SqlNode;
import org.apache.calcite.sql.SqlOperator;
import org.apache.calcite.sql.fun.SqlStdOperatorTable;
import org.jspecify.annotations.Nullable;

/// Calls of functions and operators by name over bound operands: resolution, conversion of the operands, comparisons.
public final class FunctionCalls {
  private final BindContext context;
  private final Coercion coercion;
  public final ApplicationCalls applications;

  public FunctionCalls(BindContext context, Coercion coercion) {
    this.context = context;
    this.coercion = coercion;
    this.applications = new ApplicationCalls(context);
  }

  public RexNode function(SqlNode at, String name, List<RexNode> arguments) {
    return function(at, name, arguments, List.of());
  }

  /// @param nodes the arguments' places in the statement, or none
  public RexNode function(SqlNode at, String name, List<RexNode> arguments, List<SqlNode> nodes) {
    RexNode concatenation = name.equals("concat") ? concat(at, arguments) : null;
    if (concatenation != null) {
      return concatenation;
    }
    int[] oids = arguments.stream().mapToInt(PgType::oidOf).toArray();
    ScalarFunction function;
    try {
      function = Functions.resolve(name, oids);
    } catch (EngineException ambiguous) {
      throw ambiguous.withPosition(context.position(at));
    }
    if (function == null) {
      function = applications.scalar(at, name, oids);
    }
    if (function == null) {
      throw noFunction(at, name, oids);
    }
    context.changesQueues |= QueueFunctions.changes(function.name());
    return coercion.call(
        function,
        arguments(arguments, function.argumentOids(), at, nodes),
        resultType(function),
        "");
  }

  /// A call whose last argument is VARIADIC.
  ///
  /// @param nodes the arguments' places in the statement
  public RexNode variadic(SqlNode at, String name, List<RexNode> arguments, List<SqlNode> nodes) {
    int[] oids = arguments.stream().mapToInt(PgType::oidOf).toArray();
    ScalarFunction function;
    try {
      function = VariadicArrays.resolve(name, oids);
    } catch (EngineException noArray) {
      throw noArray.withPosition(context.position(nodes.getLast()));
    }
    if (function == null) {
      throw noFunction(at, name, oids);
    }
    return coercion.call(
        function,
        arguments(arguments, function.argumentOids(), at, nodes),
        resultType(function),
        ":variadic");
  }

  /// `concat` takes any number of arguments of any type and skips nulls. Null where one is a char(n) or a boolean, of which a conversion
  /// drops the blanks and makes `true`: that is left to the function.
  private @Nullable RexNode concat(SqlNode at, List<RexNode> arguments) {
    RexNode all = null;
    for (RexNode argument : arguments) {
      int oid = PgType.oidOf(argument);
      if (oid == TypeOid.BPCHAR || oid == TypeOid.BOOL) {
        return null;
      }
      RexNode text = coercion.convert(argument, SqlType.of(TypeOid.TEXT), CastContext.ASSIGNMENT);
      if (text == null) {
        return null;
      }
      RexNode empty = coercion.constant(Constant.ofText(TypeOid.TEXT, ""));
      RexNode piece =
          context.rex.makeCall(
              context.types.of(TypeOid.TEXT, false), PgOperators.COALESCE, List.of(text, empty));
      all = all == null ? piece : function(at, "||", List.of(all, piece));
    }
    return all;
  }

  private static SqlType resultType(ScalarFunction function) {
    return SqlType.of(function.resultOid());
  }

  /// Arguments as the types that a function declares.
  ///
  /// @param nodes the arguments' places in the statement, or none
  public List<RexNode> arguments(
      List<RexNode> arguments, int[] declared, SqlNode at, List<SqlNode> nodes) {
    List<RexNode> converted = new ArrayList<>();
    for (int i = 0; i < arguments.size(); i++) {
      SqlNode node = i < nodes.size() ? nodes.get(i) : at;
      converted.add(argument(arguments.get(i), declared[i], node));
    }
    return converted;
  }

  /// The function that returns rows which a call means; null if it is another.
  public @Nullable RowFunction rowFunction(SqlNode at, String name, List<RexNode> arguments) {
    int[] oids = arguments.stream().mapToInt(PgType::oidOf).toArray();
    try {
      RowFunction function = RowFunctions.resolve(name, oids);
      return function != null ? function : applications.rows(at, name, oids);
    } catch (EngineException ambiguous) {
      throw ambiguous.withPosition(context.position(at));
    }
  }

  /// An argument as the type that a function declares.
  public RexNode argument(RexNode node, int oid, SqlNode at) {
    try {
      RexNode converted = coercion.argument(node, oid);
      if (converted != null) {
        return converted;
      }
    } catch (EngineException refused) {
      throw refused.position() == 0 ? refused.withPosition(context.position(at)) : refused;
    }
    throw coercion.noCast(PgType.oidOf(node), oid, at);
  }

  public EngineException noFunction(SqlNode at, String name, int[] oids) {
    if (applications.isProcedure(at, name)) {
      return context
          .error(
              ErrorCode.WRONG_OBJECT_TYPE, Functions.describe(name, oids) + " is a procedure", at)
          .withHint("To call a procedure, use CALL.");
    }
    boolean operator = !Character.isLetter(name.charAt(0)) && name.charAt(0) != '_';
    return noFunction(at, Functions.describe(name, oids), operator);
  }

  /// @param call as messages show it
  public EngineException noFunction(SqlNode at, String call, boolean operator) {
    return context
        .error(
            ErrorCode.UNDEFINED_FUNCTION,
            (operator ? "operator does not exist: " : "function ")
                + call
                + (operator ? "" : " does not exist"),
            at)
        .withHint(
            "No "
                + (operator ? "operator" : "function")
                + " matches the given name and argument types. You might need to add explicit type casts.");
  }

  /// The type as which values of two types are compared with each other.
  public SqlType comparedType(SqlType left, SqlType right, SqlNode at) {
    int[] oids = {left.oid(), right.oid()};
    if (Functions.resolve("=", oids) == null) {
      throw noFunction(at, "=", oids);
    }
    return coercion.commonType(List.of(left, right), "IN", at);
  }

  /// Comparison of two operands: Calcite's operator when both sides have one form, else a function.
  public RexNode comparison(SqlKind kind, RexNode left, RexNode right, SqlNode at) {
    List<SqlNode> nodes =
        at instanceof SqlBasicCall call && call.operandCount() == 2
            ? call.getOperandList()
            : List.of();
    SqlOperator operator = Comparison.operator(kind);
    int[] oids = {PgType.oidOf(left), PgType.oidOf(right)};
    ScalarFunction function = Functions.resolve(operator.getName(), oids);
    if (function == null) {
      throw noFunction(at, operator.getName(), oids);
    }
    List<RexNode> operands = arguments(List.of(left, right), function.argumentOids(), at, nodes);
    int[] declared = function.argumentOids();
    boolean sameForm = declared[0] == declared[1] && Types.hasEquality(declared[0]);
    if (ComparedTimes.areMixed(declared[0], declared[1])) {
      // A side that is computed before a scan is a bound of an index then.
      int common = ComparedTimes.common(declared[0], declared[1]);
      operands = operands.stream().map(operand -> comparedTime(operand, common)).toList();
      sameForm = true;
    }
    if (sameForm || (Comparison.isInteger(declared[0]) && Comparison.isInteger(declared[1]))) {
      boolean nullable = operands.stream().anyMatch(o -> o.getType().isNullable());
      return context.rex.makeCall(context.types.of(TypeOid.BOOL, nullable), operator, operands);
    }
    return coercion.call(function, operands, SqlType.of(TypeOid.BOOL), "");
  }

  private RexNode comparedTime(RexNode operand, int common) {
    int oid = PgType.oidOf(operand);
    return oid == common
        ? operand
        : coercion.call(
            ComparedTimes.conversion(oid, common),
            List.of(operand),
            SqlType.of(common),
            ":compared");
  }

  public RexNode distinct(RexNode left, RexNode right, boolean distinct, SqlNode at) {
    RexNode equal = comparison(SqlKind.EQUALS, left, right, at);
    RelDataType type = context.types.of(TypeOid.BOOL, false);
    if (equal instanceof RexCall known && known.getKind() == SqlKind.EQUALS) {
      return context.rex.makeCall(
          type,
          distinct
              ? SqlStdOperatorTable.IS_DISTINCT_FROM
              : SqlStdOperatorTable.IS_NOT_DISTINCT_FROM,
          known.getOperands());
    }
    RexNode bothNull =
        context.rex.makeCall(
            SqlStdOperatorTable.AND,
            context.rex.makeCall(SqlStdOperatorTable.IS_NULL, left),
            context.rex.makeCall(SqlStdOperatorTable.IS_NULL, right));
    RexNode same = context.rex.makeCall(type, PgOperators.COALESCE, List.of(equal, bothNull));
    return distinct ? context.rex.makeCall(SqlStdOperatorTable.NOT, same) : same;
  }

  public List<RexNode> convertAll(List<RexNode> nodes, SqlType type, String what, SqlNode at) {
    List<RexNode> converted = new ArrayList<>();
    for (RexNode node : nodes) {
      RexNode one = coercion.implicit(node, type);
      if (one == null) {
        throw coercion.notConverted(what, PgType.oidOf(node), type.oid(), at);
      }
      converted.add(one);
    }
    return converted;
  }
}
