package dev.kakehashi.engine.sql;

import dev.kakehashi.engine.type.AggregateFunction;
import dev.kakehashi.engine.type.ScalarFunction;
import java.util.Arrays;
import org.apache.calcite.rel.type.RelDataType;
import org.apache.calcite.sql.SqlAggFunction;
import org.apache.calcite.sql.SqlFunction;
import org.apache.calcite.sql.SqlFunctionCategory;
import org.apache.calcite.sql.SqlKind;
import org.apache.calcite.sql.SqlOperator;
import org.apache.calcite.sql.SqlOperatorBinding;
import org.jspecify.annotations.Nullable;

/// Operators of the algebra that Calcite does not look into. AND, OR, NOT, IS ... and comparisons of operands of one type are Calcite's.
public final class PgOperators {
  /// CASE WHEN: condition, value, ..., else. Evaluates what it needs only.
  public static final SqlOperator CASE = new Opaque("CASE");

  public static final SqlOperator COALESCE = new Opaque("COALESCE");
  public static final SqlOperator GREATEST = new Opaque("GREATEST");
  public static final SqlOperator LEAST = new Opaque("LEAST");

  /// The same word under another type.
  public static final SqlOperator RELABEL = new Opaque("RELABEL");

  /// Operand 0 equals one of the constants that follow.
  public static final SqlOperator IN_LIST = new Opaque("IN");

  /// The column's default.
  static final SqlOperator DEFAULT = new Opaque("DEFAULT");

  private PgOperators() {}

  /// An operator known by its name.
  private static final class Opaque extends SqlFunction {
    private static final long serialVersionUID = 1L;

    Opaque(String name) {
      super(
          name,
          SqlKind.OTHER_FUNCTION,
          null,
          null,
          null,
          SqlFunctionCategory.USER_DEFINED_FUNCTION);
    }
  }

  /// A constant; calls have no operands.
  public static final class ConstantOperator extends SqlFunction {
    private static final long serialVersionUID = 1L;

    public final transient Constant constant;

    ConstantOperator(Constant constant) {
      super(
          constant.digest(),
          SqlKind.OTHER_FUNCTION,
          null,
          null,
          null,
          SqlFunctionCategory.USER_DEFINED_FUNCTION);
      this.constant = constant;
    }
  }

  /// A function of the types package.
  public static final class FunctionOperator extends SqlFunction {
    private static final long serialVersionUID = 1L;

    public final transient ScalarFunction function;
    private final boolean deterministic;

    /// @param suffix tells functions of the same name and types apart
    FunctionOperator(ScalarFunction function, String suffix) {
      super(
          function.name()
              + Arrays.toString(function.argumentOids())
              + ":"
              + function.resultOid()
              + suffix,
          SqlKind.OTHER_FUNCTION,
          null,
          null,
          null,
          SqlFunctionCategory.USER_DEFINED_FUNCTION);
      this.function = function;
      this.deterministic = !function.name().equals("random");
    }

    @Override
    public boolean isDeterministic() {
      return deterministic;
    }
  }

  /// An aggregate of one argument type.
  public static final class AggregateOperator extends SqlAggFunction {
    private static final long serialVersionUID = 1L;

    public final transient AggregateFunction aggregate;

    private final transient RelDataType resultType;

    AggregateOperator(AggregateFunction aggregate, RelDataType resultType) {
      super(
          aggregate.name() + Arrays.toString(aggregate.argumentOids()),
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
