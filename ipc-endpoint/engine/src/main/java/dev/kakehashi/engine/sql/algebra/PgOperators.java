package dev.kakehashi.engine.sql.algebra;

import dev.kakehashi.engine.type.AggregateFunction;
import dev.kakehashi.engine.type.ScalarFunction;
import dev.kakehashi.engine.type.SqlType;
import java.util.Arrays;
import java.util.List;
import java.util.function.IntFunction;
import org.apache.calcite.rel.type.RelDataType;
import org.apache.calcite.rex.RexCall;
import org.apache.calcite.rex.RexNode;
import org.apache.calcite.rex.RexShuttle;
import org.apache.calcite.sql.SqlAggFunction;
import org.apache.calcite.sql.SqlFunction;
import org.apache.calcite.sql.SqlFunctionCategory;
import org.apache.calcite.sql.SqlKind;
import org.apache.calcite.sql.SqlOperator;
import org.apache.calcite.sql.SqlOperatorBinding;
import org.apache.calcite.sql.type.SqlTypeName;
import org.jspecify.annotations.Nullable;

/// Operators of the algebra that Calcite does not look into. AND, OR, NOT, IS ... and comparisons of operands of one type are Calcite's.
public final class PgOperators {
  /// CASE WHEN: condition, value, ..., else. Evaluates what it needs only.
  public static final SqlOperator CASE = new Opaque("CASE", 1);

  public static final SqlOperator COALESCE = new Opaque("COALESCE", 0);
  public static final SqlOperator GREATEST = new Opaque("GREATEST", 0);
  public static final SqlOperator LEAST = new Opaque("LEAST", 0);

  /// Operand 0 equals one of the constants that follow.
  public static final SqlOperator IN_LIST = new Opaque("IN", -1);

  /// Operand 0 equals one of the elements of the array that is operand 1.
  public static final SqlOperator IN_ARRAY = new Opaque("= ANY", -1);

  /// The column's default.
  public static final SqlOperator DEFAULT = new Opaque("DEFAULT", -1);

  private PgOperators() {}

  /// Whether a call compares its first operand with a list or an array.
  public static boolean isSet(RexCall call) {
    return is(call, IN_LIST) || is(call, IN_ARRAY);
  }

  /// Whether it is a call of one of our operators, which are singletons.
  @SuppressWarnings("ReferenceEquality")
  public // SqlOperator.equals compares names and kinds
  static boolean is(RexNode node, SqlOperator operator) {
    return node instanceof RexCall call && call.getOperator() == operator;
  }

  /// An operator known by its name.
  private static final class Opaque extends SqlFunction {
    private static final long serialVersionUID = 1L;

    /// Operand whose type the result has; -1: bool.
    private final int typeOperand;

    Opaque(String name, int typeOperand) {
      super(
          name,
          SqlKind.OTHER_FUNCTION,
          null,
          null,
          null,
          SqlFunctionCategory.USER_DEFINED_FUNCTION);
      this.typeOperand = typeOperand;
    }

    @Override
    public RelDataType inferReturnType(SqlOperatorBinding binding) {
      return binding
          .getTypeFactory()
          .createTypeWithNullability(
              typeOperand < 0
                  ? binding.getTypeFactory().createSqlType(SqlTypeName.BOOLEAN)
                  : binding.getOperandType(typeOperand),
              true);
    }
  }

  /// The same word under another type.
  public static final class RelabelOperator extends SqlFunction {
    private static final long serialVersionUID = 1L;

    private final transient SqlType to;

    public RelabelOperator(SqlType to) {
      super(
          "RELABEL:" + to.oid() + ":" + to.typeModifier(),
          SqlKind.OTHER_FUNCTION,
          null,
          null,
          null,
          SqlFunctionCategory.USER_DEFINED_FUNCTION);
      this.to = to;
    }

    @Override
    public RelDataType inferReturnType(SqlOperatorBinding binding) {
      return typed(binding, to, false);
    }
  }

  private static RelDataType typed(SqlOperatorBinding binding, SqlType type, boolean mayBeNull) {
    boolean nullable =
        mayBeNull || binding.collectOperandTypes().stream().anyMatch(RelDataType::isNullable);
    return ((PgTypeFactory) binding.getTypeFactory()).of(type, nullable);
  }

  /// A constant; calls have no operands.
  public static final class ConstantOperator extends SqlFunction {
    private static final long serialVersionUID = 1L;

    public final transient Constant constant;

    public ConstantOperator(Constant constant) {
      super(
          constant.digest(),
          SqlKind.OTHER_FUNCTION,
          null,
          null,
          null,
          SqlFunctionCategory.USER_DEFINED_FUNCTION);
      this.constant = constant;
    }

    @Override
    public RelDataType inferReturnType(SqlOperatorBinding binding) {
      return typed(binding, constant.type(), constant.isNull());
    }
  }

  /// Stands for a value in an expression until there is a column of it.
  public abstract static class Place extends SqlFunction {
    private static final long serialVersionUID = 1L;

    final int number;

    Place(String kind, int number) {
      super(
          kind + number,
          SqlKind.OTHER_FUNCTION,
          null,
          null,
          null,
          SqlFunctionCategory.USER_DEFINED_FUNCTION);
      this.number = number;
    }

    /// Whether an expression has a place of a kind in it.
    public static boolean isIn(RexNode node, Class<? extends Place> kind) {
      boolean[] found = {false};
      node.accept(
          new RexShuttle() {
            @Override
            public RexNode visitCall(RexCall call) {
              found[0] |= kind.isInstance(call.getOperator());
              return super.visitCall(call);
            }
          });
      return found[0];
    }

    /// An expression with columns in place of the places of a kind.
    public static RexNode replace(
        RexNode node, Class<? extends Place> kind, IntFunction<RexNode> column) {
      return node.accept(
          new RexShuttle() {
            @Override
            public RexNode visitCall(RexCall call) {
              return kind.isInstance(call.getOperator())
                  ? column.apply(((Place) call.getOperator()).number)
                  : super.visitCall(call);
            }
          });
    }
  }

  /// Place of a window function's value, until windows are computed.
  public static final class WindowPlace extends Place {
    private static final long serialVersionUID = 1L;

    public WindowPlace(int number) {
      super("window", number);
    }
  }

  /// Place of a value of a function that returns rows, until the rows are joined.
  public static final class RowPlace extends Place {
    private static final long serialVersionUID = 1L;

    public RowPlace(int number) {
      super("rows", number);
    }
  }

  /// A function of the types package.
  public static final class FunctionOperator extends SqlFunction {
    private static final long serialVersionUID = 1L;

    public final transient ScalarFunction function;
    private final transient SqlType resultType;
    private final boolean neverNull;
    private final boolean deterministic;

    @Override
    public RelDataType inferReturnType(SqlOperatorBinding binding) {
      return typed(binding, resultType, !neverNull);
    }

    /// @param neverNull null for null arguments only
    /// @param suffix tells functions of the same name and types apart
    public FunctionOperator(
        ScalarFunction function, SqlType resultType, boolean neverNull, String suffix) {
      super(
          function.name()
              + Arrays.toString(function.argumentOids())
              + ":"
              + function.resultOid()
              + function.body().identity()
              + suffix,
          SqlKind.OTHER_FUNCTION,
          null,
          null,
          null,
          SqlFunctionCategory.USER_DEFINED_FUNCTION);
      this.function = function;
      this.resultType = resultType;
      this.neverNull = neverNull;
      this.deterministic = !function.isVolatile();
    }

    @Override
    public boolean isDeterministic() {
      return deterministic;
    }
  }

  /// One column of the order in which an aggregate takes its rows.
  public record AggregateOrder(boolean descending, boolean nullsFirst) {}

  /// An aggregate of one argument type. The columns of its order are its last arguments: of those, and not of a collation, Calcite's
  /// removal of correlations sees that they move.
  public static final class AggregateOperator extends SqlAggFunction {
    private static final long serialVersionUID = 1L;

    public final transient AggregateFunction aggregate;

    public final transient List<AggregateOrder> order;

    private final transient RelDataType resultType;

    public AggregateOperator(AggregateFunction aggregate, RelDataType resultType) {
      this(aggregate, resultType, List.of());
    }

    private AggregateOperator(
        AggregateFunction aggregate, RelDataType resultType, List<AggregateOrder> order) {
      super(
          aggregate.name() + Arrays.toString(aggregate.argumentOids()) + order,
          null,
          SqlKind.OTHER_FUNCTION,
          null,
          null,
          null,
          SqlFunctionCategory.USER_DEFINED_FUNCTION,
          false,
          false,
          org.apache.calcite.util.Optionality.FORBIDDEN);
      this.aggregate = aggregate;
      this.resultType = resultType;
      this.order = order;
    }

    public AggregateOperator ordered(List<AggregateOrder> by) {
      return new AggregateOperator(aggregate, resultType, by);
    }

    @Override
    public RelDataType inferReturnType(SqlOperatorBinding binding) {
      return resultType;
    }

    @Override
    public boolean allowsFilter() {
      return true;
    }

    @Override
    public @Nullable SqlAggFunction getRollup() {
      return null;
    }
  }
}
