package dev.kakehashi.engine.sql.typing;

import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.engine.sql.algebra.Constant;
import dev.kakehashi.engine.sql.algebra.PgOperators;
import dev.kakehashi.engine.sql.algebra.PgOperators.ConstantOperator;
import dev.kakehashi.engine.sql.algebra.PgOperators.FunctionOperator;
import dev.kakehashi.engine.sql.algebra.PgType;
import dev.kakehashi.engine.type.CastContext;
import dev.kakehashi.engine.type.FunctionContext;
import dev.kakehashi.engine.type.FunctionSession;
import dev.kakehashi.engine.type.ScalarFunction;
import dev.kakehashi.engine.type.SqlType;
import dev.kakehashi.engine.type.Types;
import dev.kakehashi.engine.type.application.ApplicationScalar;
import dev.kakehashi.engine.type.value.Casts;
import dev.kakehashi.engine.vector.Interrupts;
import dev.kakehashi.engine.vector.VarHeap;
import dev.kakehashi.protocol.ErrorCode;
import dev.kakehashi.protocol.TypeOid;
import dev.kakehashi.valuetext.time.Clock;
import dev.kakehashi.valuetext.time.DateTimeInput;
import java.util.List;
import org.apache.calcite.rel.type.RelDataType;
import org.apache.calcite.rex.RexDynamicParam;
import org.apache.calcite.rex.RexNode;
import org.apache.calcite.sql.SqlNode;
import org.jspecify.annotations.Nullable;

/// Makes expressions: constants, function calls, conversions; folds calls of constants.
public final class Coercion {
  /// Bytes that a constant may have more than the constants it is computed from. A longer one is computed when the statement is executed: a
  /// plan is kept, and a value is not.
  private static final long MAX_FOLDED_BYTES = 64 << 10;

  /// How often a function may need the room of its arguments and its result.
  private static final int MAX_ARGUMENT_TIMES = 4;

  private final BindContext context;

  public Coercion(BindContext context) {
    this.context = context;
  }

  public RexNode constant(Constant constant) {
    RelDataType type = context.types.of(constant.type(), constant.isNull());
    return context.rex.makeCall(type, new ConstantOperator(constant), List.of());
  }

  /// A call whose arguments have been converted; folded when everything is constant.
  public RexNode call(
      ScalarFunction function, List<RexNode> arguments, SqlType resultType, String suffix) {
    RexNode folded = fold(function, arguments, resultType);
    if (folded != null) {
      return folded;
    }
    boolean nullable =
        !neverNull(function) || arguments.stream().anyMatch(a -> a.getType().isNullable());
    return context.rex.makeCall(
        context.types.of(resultType, nullable),
        new FunctionOperator(function, resultType, neverNull(function), suffix),
        arguments);
  }

  /// Operators and conversions give null for null only; other functions may give null for anything.
  private static boolean neverNull(ScalarFunction function) {
    return function.strict()
        && !function.body().mayGiveNull()
        && (!Character.isLetter(function.name().charAt(0)) || function.argumentOids().length == 1);
  }

  private @Nullable RexNode fold(
      ScalarFunction function, List<RexNode> arguments, SqlType resultType) {
    if (!function.immutable()) {
      return null;
    }
    long[] words = new long[arguments.size()];
    long nulls = 0;
    long bytes = MAX_FOLDED_BYTES;
    for (int i = 0; i < words.length; i++) {
      Constant constant = Constant.of(arguments.get(i));
      if (constant == null) {
        return null;
      }
      bytes += constant.memory() == null ? 0 : constant.memory().byteSize();
      words[i] = constant.word();
      nulls |= constant.isNull() ? 1L << i : 0;
    }
    if (nulls != 0 && function.strict()) {
      return constant(Constant.ofNull(resultType));
    }
    try (VarHeap heap = new VarHeap()) {
      heap.limit(MAX_ARGUMENT_TIMES * bytes);
      FunctionContext functionContext =
          function.body() instanceof ApplicationScalar
              ? new FunctionContext(heap, 0, 0, context.planning())
              : new FunctionContext(heap, 0, 0);
      long word = function.body().apply(words, nulls, functionContext);
      return constant(
          functionContext.resultIsNull
              ? Constant.ofNull(resultType)
              : Constant.of(resultType, word));
    } catch (VarHeap.LimitReached longValue) {
      return null;
    } catch (EngineException failsWhenExecuted) {
      Interrupts.check(); // a cancel is for now
      // The call may never be reached (CASE), so it fails at execution if at all.
      return null;
    }
  }

  /// Converts without being asked to, or null if that is not allowed.
  public @Nullable RexNode implicit(RexNode node, SqlType to) {
    return convert(node, to, CastContext.IMPLICIT);
  }

  /// Converts an argument whose word may stay as it is.
  public @Nullable RexNode argument(RexNode node, int toOid) {
    int from = PgType.oidOf(node);
    if (from != Types.UNKNOWN && Casts.isBinaryCoercible(from, toOid)) {
      return node;
    }
    return convert(node, SqlType.of(toOid), CastContext.IMPLICIT);
  }

  /// Converts to a type in a context; null if there is no such conversion.
  public @Nullable RexNode convert(RexNode node, SqlType to, CastContext castContext) {
    SqlType from = PgType.of(node);
    if (from.oid() == Types.UNKNOWN) {
      return convertUnknown(node, to, castContext);
    }
    if (from.equals(to)) {
      return node;
    }
    Constant constant = Constant.of(node);
    if (constant != null && constant.isNull() && isConvertible(from.oid(), to, castContext)) {
      return constant(Constant.ofNull(to));
    }
    if (to.typeModifier() < 0
        && Casts.isBinaryCoercible(from.oid(), to.oid())
        && Casts.find(from.oid(), to, castContext) != null) {
      if (constant != null) {
        return constant(new Constant(to, constant.isNull(), constant.word(), constant.memory()));
      }
      return context.rex.makeCall(
          context.types.of(to, node.getType().isNullable()),
          new PgOperators.RelabelOperator(to),
          List.of(node));
    }
    ScalarFunction cast = Casts.find(from.oid(), to, castContext);
    return cast == null
        ? null
        : call(cast, List.of(node), to, ":" + to.typeModifier() + castContext.name());
  }

  private static boolean isConvertible(int from, SqlType to, CastContext castContext) {
    return Casts.find(from, to, castContext) != null;
  }

  private RexNode convertUnknown(RexNode node, SqlType to, CastContext castContext) {
    if (node instanceof RexDynamicParam parameter) {
      int number = parameter.getIndex() + 1;
      int known = context.parameterOid(number);
      if (known == 0) {
        known = to.oid() == Types.UNKNOWN ? TypeOid.TEXT : to.oid();
        context.setParameterOid(number, known);
      }
      RexNode typed = parameter(number, known);
      RexNode converted = convert(typed, to, castContext);
      return converted == null ? typed : converted;
    }
    Constant constant = Constant.of(node);
    if (constant != null && constant.isNull()) {
      return constant(Constant.ofNull(to));
    }
    if (to.oid() == Types.UNKNOWN) {
      return node;
    }
    ScalarFunction input = Casts.find(Types.UNKNOWN, to, castContext);
    if (input == null) {
      throw new IllegalStateException("no input of type " + to);
    }
    if (constant == null || dependsOnNow(input, constant)) {
      return call(input, List.of(node), to, ":" + to.typeModifier());
    }
    // A literal that is no value of its type is refused here, as PostgreSQL's parser does.
    try (VarHeap heap = new VarHeap()) {
      FunctionContext functionContext =
          new FunctionContext(
              heap,
              Clock.now(),
              Clock.now(),
              to.oid() == TypeOid.TIMESTAMPTZ || to.oid() == TypeOid.TIMETZ
                  ? FunctionSession.inZone(context.zone())
                  : FunctionSession.NONE);
      long word = input.body().apply(new long[] {constant.word()}, 0, functionContext);
      return constant(Constant.of(to, word));
    }
  }

  /// Whether a literal is a word such as "now", which is another value each time that a kept plan is used.
  private static boolean dependsOnNow(ScalarFunction input, Constant literal) {
    return !input.immutable() && DateTimeInput.dependsOnNow(literal.text());
  }

  public RexNode parameter(int number, int oid) {
    return context.rex.makeDynamicParam(context.types.of(oid, true), number - 1);
  }

  /// Gives an expression without type the type text.
  public RexNode resolveUnknown(RexNode node) {
    return PgType.oidOf(node) == Types.UNKNOWN
        ? convertUnknown(node, SqlType.of(TypeOid.TEXT), CastContext.IMPLICIT)
        : node;
  }

  /// Converts to bool.
  ///
  /// @param what for the message, for example "argument of WHERE"
  public RexNode condition(RexNode node, String what, SqlNode at) {
    RexNode bool = implicit(node, SqlType.of(TypeOid.BOOL));
    if (bool == null) {
      throw context.error(
          ErrorCode.DATATYPE_MISMATCH,
          what + " must be type boolean, not type " + Types.name(PgType.oidOf(node)),
          at);
    }
    return bool;
  }

  /// Type that all the expressions can be converted to, by PostgreSQL's rules for UNION and CASE.
  ///
  /// @param what for the message, for example "CASE"
  public SqlType commonType(List<SqlType> types, String what, SqlNode at) {
    SqlType common = null;
    boolean sameModifier = true;
    for (SqlType type : types) {
      if (type.oid() == Types.UNKNOWN) {
        sameModifier = false;
        continue;
      }
      if (common == null) {
        common = type;
        continue;
      }
      sameModifier &= common.equals(type);
      if (common.oid() == type.oid()) {
        continue;
      }
      if (category(common.oid()) != category(type.oid())) {
        throw context.error(
            ErrorCode.DATATYPE_MISMATCH,
            what
                + " types "
                + Types.name(common.oid())
                + " and "
                + Types.name(type.oid())
                + " cannot be matched",
            at);
      }
      if (!isPreferred(common.oid())
          && Casts.isImplicit(common.oid(), type.oid())
          && !Casts.isImplicit(type.oid(), common.oid())) {
        common = type;
      } else if (!Casts.isImplicit(type.oid(), common.oid())) {
        throw notConverted(what, type.oid(), common.oid(), at);
      }
    }
    if (common == null) {
      return SqlType.of(TypeOid.TEXT);
    }
    boolean literalsOnly = types.stream().allMatch(t -> t.oid() == Types.UNKNOWN);
    return sameModifier && !literalsOnly ? common : SqlType.of(common.oid());
  }

  /// For operands of a construct that get one type.
  ///
  /// @param what the construct, as in CASE
  public EngineException notConverted(String what, int from, int to, SqlNode at) {
    return context.error(
        ErrorCode.CANNOT_COERCE,
        what + " could not convert type " + Types.name(from) + " to " + Types.name(to),
        at);
  }

  /// For a value that has to be of a type.
  public EngineException noCast(int from, int to, SqlNode at) {
    return context.error(
        ErrorCode.CANNOT_COERCE,
        "cannot cast type " + Types.name(from) + " to " + Types.name(to),
        at);
  }

  private static char category(int oid) {
    return switch (oid) {
      case TypeOid.BOOL -> 'B';
      case TypeOid.INT2,
          TypeOid.INT4,
          TypeOid.INT8,
          TypeOid.FLOAT4,
          TypeOid.FLOAT8,
          TypeOid.NUMERIC ->
          'N';
      case TypeOid.TEXT, TypeOid.VARCHAR, TypeOid.BPCHAR -> 'S';
      case TypeOid.DATE, TypeOid.TIME, TypeOid.TIMESTAMP, TypeOid.TIMESTAMPTZ -> 'D';
      case TypeOid.INTERVAL -> 'T';
      default -> (char) ('a' + oid % 26);
    };
  }

  private static boolean isPreferred(int oid) {
    return switch (oid) {
      case TypeOid.BOOL, TypeOid.FLOAT8, TypeOid.TEXT, TypeOid.TIMESTAMPTZ, TypeOid.INTERVAL ->
          true;
      default -> false;
    };
  }
}
