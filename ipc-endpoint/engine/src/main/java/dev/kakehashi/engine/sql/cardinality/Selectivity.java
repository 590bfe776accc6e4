package dev.kakehashi.engine.sql.cardinality;

import dev.kakehashi.engine.sql.algebra.ColumnOrigin;
import dev.kakehashi.engine.sql.algebra.Constant;
import dev.kakehashi.engine.sql.algebra.ExprTranslator;
import dev.kakehashi.engine.sql.algebra.PgOperators;
import dev.kakehashi.engine.sql.algebra.PgOperators.ConstantOperator;
import dev.kakehashi.engine.sql.algebra.PgOperators.FunctionOperator;
import dev.kakehashi.engine.statistics.ColumnStatistics;
import dev.kakehashi.engine.type.time.ComparedTimes;
import dev.kakehashi.engine.vector.Interrupts;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.apache.calcite.plan.RelOptUtil;
import org.apache.calcite.rel.RelNode;
import org.apache.calcite.rex.RexCall;
import org.apache.calcite.rex.RexCorrelVariable;
import org.apache.calcite.rex.RexDynamicParam;
import org.apache.calcite.rex.RexInputRef;
import org.apache.calcite.rex.RexLiteral;
import org.apache.calcite.rex.RexNode;
import org.apache.calcite.rex.RexShuttle;
import org.apache.calcite.rex.RexSubQuery;
import org.apache.calcite.rex.RexUtil;
import org.apache.calcite.rex.RexVisitorImpl;
import org.apache.calcite.sql.SqlKind;
import org.apache.calcite.util.ImmutableBitSet;
import org.jspecify.annotations.Nullable;

/// Fraction of a relation's rows for which a condition is true.
///
/// Terms of AND are taken to be independent, except the bounds of a range of one column. Terms about which nothing is known have
/// PostgreSQL's default values.
public final class Selectivity {
  /// PostgreSQL's DEFAULT_MATCH_SEL.
  private static final double DEFAULT_MATCH = 0.005;

  /// Elements of an array that is not known, as PostgreSQL takes it.
  private static final int UNKNOWN_ARRAY_ELEMENTS = 10;

  /// PostgreSQL's DEFAULT_UNK_SEL, for IS NULL.
  private static final double DEFAULT_NULL = 0.005;

  /// PostgreSQL's DEFAULT_RANGE_INEQ_SEL.
  public static final double DEFAULT_RANGE = 0.005;

  private static final double DEFAULT_BOOLEAN = 0.5;

  /// A restriction that follows from a disjunction for one side of a join is a filter there if it lets no more pass; PostgreSQL's bound.
  public static final double WORTHWHILE = 0.9;

  private static final Set<String> ORDERS = Set.of("<", "<=", ">", ">=");

  private final RelNode rel;

  private Selectivity(RelNode rel) {
    this.rel = rel;
  }

  /// Selectivity of a condition over the columns of a relation; null: no condition.
  public static double of(RelNode rel, @Nullable RexNode condition) {
    Interrupts.check();
    return condition == null
        ? 1
        : Math.clamp(new Selectivity(rel).conjunction(RelOptUtil.conjunctions(condition)), 0, 1);
  }

  /// Selectivity of a term among pairs of rows whose sides have been restricted by it already. A restriction of one table that follows from
  /// a disjunction is a filter below the join, and is not to be counted twice. PostgreSQL adjusts its clause in the same way.
  ///
  /// @param rel has the columns of all sides of an inner join
  public static double ofJoined(RelNode rel, RexNode term) {
    double selectivity = of(rel, term);
    if (term.getKind() != SqlKind.OR || !RexUtil.isDeterministic(term)) {
      return selectivity;
    }
    IdentityHashMap<RelNode, ImmutableBitSet.Builder> sides = new IdentityHashMap<>();
    for (int column : RelOptUtil.InputFinder.bits(term)) {
      ColumnOrigin origin = ColumnOrigin.of(rel, column);
      if (origin == null) {
        return selectivity;
      }
      sides.computeIfAbsent(origin.scan(), s -> ImmutableBitSet.builder()).set(column);
    }
    if (sides.size() < 2) {
      return selectivity;
    }
    Selectivity of = new Selectivity(rel);
    for (ImmutableBitSet.Builder side : sides.values()) {
      double restriction = of.restriction(term, side.build());
      if (restriction > 0 && restriction <= WORTHWHILE) {
        selectivity /= restriction;
      }
    }
    return Math.clamp(selectivity, 0, 1);
  }

  /// Selectivity of what follows from a disjunction for some columns; 1: nothing does.
  private double restriction(RexNode disjunction, ImmutableBitSet columns) {
    double result = 0;
    for (RexNode alternative : RelOptUtil.disjunctions(disjunction)) {
      double selectivity = 1;
      for (RexNode term : RelOptUtil.conjunctions(alternative)) {
        if (term.getKind() == SqlKind.OR) {
          selectivity *= restriction(term, columns);
        } else if (columns.contains(RelOptUtil.InputFinder.bits(term)) && !isFree(term)) {
          selectivity *= single(term);
        }
      }
      result += selectivity - result * selectivity;
    }
    return Math.clamp(result, 0, 1);
  }

  /// Lower and upper bound of one column.
  private static final class Range {
    double above = 1;
    double below = 1;

    boolean isBounded() {
      return above < 1 && below < 1;
    }
  }

  private double conjunction(List<RexNode> terms) {
    Map<Integer, Range> ranges = new HashMap<>();
    double result = 1;
    for (RexNode term : terms) {
      RexCall bound = columnBound(term);
      if (bound == null) {
        result *= single(term);
        continue;
      }
      Range range =
          ranges.computeIfAbsent(orderedColumn(bound.getOperands().getFirst()), c -> new Range());
      double selectivity = single(bound);
      if (order(bound).startsWith("<")) {
        range.below = Math.min(range.below, selectivity);
      } else {
        range.above = Math.min(range.above, selectivity);
      }
    }
    for (Map.Entry<Integer, Range> entry : ranges.entrySet()) {
      result *= range(entry.getKey(), entry.getValue());
    }
    return result;
  }

  private double range(int column, Range range) {
    if (!range.isBounded()) {
      return range.above * range.below;
    }
    ColumnOrigin origin = ColumnOrigin.of(rel, column);
    double nulls = origin == null ? 0 : origin.nullFraction();
    double both = range.above + range.below + nulls - 1;
    // As in PostgreSQL: of a bound whose value is not known, default values would add up to less
    // than nothing.
    boolean known =
        origin != null
            && origin.statistics() != null
            && range.above != ColumnSelectivity.DEFAULT_INEQUALITY
            && range.below != ColumnSelectivity.DEFAULT_INEQUALITY;
    return known ? Math.max(both, 1e-5) : DEFAULT_RANGE;
  }

  /// An order comparison of a column with something else that is not of this relation, the column first; or null.
  private @Nullable RexCall columnBound(RexNode term) {
    if (!(term instanceof RexCall call) || order(call).isEmpty()) {
      return null;
    }
    RexCall turned = call;
    if (SqlKind.COMPARISON.contains(call.getKind())
        && orderedColumn(call.getOperands().get(0)) < 0) {
      turned = (RexCall) RexUtil.invert(rel.getCluster().getRexBuilder(), call);
    }
    return turned != null
            && orderedColumn(turned.getOperands().get(0)) >= 0
            && isFree(turned.getOperands().get(1))
        ? turned
        : null;
  }

  /// The number of the column that the expression is or, as another type of time, has the order of; -1 if there is none.
  private static int orderedColumn(RexNode node) {
    return ColumnOrigin.column(
        node instanceof RexCall call
                && call.getOperator() instanceof FunctionOperator operator
                && ComparedTimes.isConversion(operator.function)
            ? call.getOperands().getFirst()
            : node);
  }

  /// `<`, `<=`, `>` or `>=` if the call is such a comparison, of one type or (a function then) of two; else empty.
  private static String order(RexCall call) {
    return switch (call.getKind()) {
      case LESS_THAN -> "<";
      case LESS_THAN_OR_EQUAL -> "<=";
      case GREATER_THAN -> ">";
      case GREATER_THAN_OR_EQUAL -> ">=";
      default -> {
        String name = functionName(call);
        yield ORDERS.contains(name) ? name : "";
      }
    };
  }

  private static String functionName(RexCall call) {
    return call.getOperator() instanceof FunctionOperator operator ? operator.function.name() : "";
  }

  /// The comparison with a column on its left side, or null.
  private @Nullable RexCall columnFirst(RexCall call) {
    if (ColumnOrigin.column(call.getOperands().get(0)) >= 0) {
      return call;
    }
    return ColumnOrigin.column(call.getOperands().get(1)) < 0
        ? null
        : (RexCall) RexUtil.invert(rel.getCluster().getRexBuilder(), call);
  }

  private static boolean isFree(RexNode node) {
    return RelOptUtil.InputFinder.bits(node).isEmpty();
  }

  private double single(RexNode condition) {
    if (condition instanceof RexLiteral literal) {
      return literal.isAlwaysTrue() ? 1 : 0;
    }
    if (!(condition instanceof RexCall call)) {
      return condition instanceof RexInputRef reference ? truth(reference) : DEFAULT_BOOLEAN;
    }
    return switch (call.getKind()) {
      case AND -> conjunction(call.getOperands());
      case OR -> disjunction(call.getOperands());
      case NOT -> negation(call.getOperands().getFirst());
      case IS_NULL -> isNull(call.getOperands().getFirst());
      case IS_NOT_NULL -> 1 - isNull(call.getOperands().getFirst());
      case EQUALS,
          NOT_EQUALS,
          LESS_THAN,
          LESS_THAN_OR_EQUAL,
          GREATER_THAN,
          GREATER_THAN_OR_EQUAL,
          IS_NOT_DISTINCT_FROM ->
          comparison(call);
      default -> computed(call);
    };
  }

  private double disjunction(List<RexNode> terms) {
    double result = 0;
    for (RexNode term : terms) {
      double selectivity = single(term);
      result += selectivity - result * selectivity;
    }
    return result;
  }

  private double negation(RexNode operand) {
    ImmutableBitSet columns = RelOptUtil.InputFinder.bits(operand);
    double nulls = 0;
    if (columns.cardinality() == 1) {
      ColumnOrigin origin = ColumnOrigin.of(rel, columns.nth(0));
      nulls = origin == null ? 0 : origin.nullFraction();
    }
    // The negation of null is null.
    return Math.max(0, 1 - single(operand) - nulls);
  }

  private double isNull(RexNode operand) {
    if (!operand.getType().isNullable()) {
      return 0;
    }
    ColumnOrigin origin = ColumnOrigin.of(rel, operand);
    return origin == null || origin.statistics() == null ? DEFAULT_NULL : origin.nullFraction();
  }

  private double truth(RexInputRef reference) {
    Double known = sampled(reference);
    return known == null ? DEFAULT_BOOLEAN : known;
  }

  private double comparison(RexCall call) {
    RexCall turned = columnFirst(call);
    if (turned == null) {
      Double known = sampled(call);
      return known == null ? fallback(call) : known;
    }
    ColumnOrigin column = ColumnOrigin.of(rel, turned.getOperands().get(0));
    RexNode other = turned.getOperands().get(1);
    ColumnOrigin otherColumn = ColumnOrigin.of(rel, other);
    if (column == null) {
      return fallback(call);
    }
    Constant constant = constant(other);
    return switch (turned.getKind()) {
      case EQUALS, IS_NOT_DISTINCT_FROM ->
          otherColumn != null
              ? equalColumns(column, otherColumn)
              : constant != null
                  ? ColumnSelectivity.equal(column, constant)
                  : ColumnSelectivity.equalToSome(column);
      case NOT_EQUALS ->
          Math.max(
              0,
              1
                  - column.nullFraction()
                  - (constant != null
                      ? ColumnSelectivity.equal(column, constant)
                      : ColumnSelectivity.equalToSome(column)));
      default ->
          constant == null
              ? ColumnSelectivity.DEFAULT_INEQUALITY
              : ColumnSelectivity.compared(column, turned.getKind(), constant);
    };
  }

  private static double fallback(RexCall call) {
    return switch (call.getKind()) {
      case EQUALS, IS_NOT_DISTINCT_FROM -> ColumnSelectivity.DEFAULT_EQUAL;
      case NOT_EQUALS -> 1 - ColumnSelectivity.DEFAULT_EQUAL;
      default -> ColumnSelectivity.DEFAULT_INEQUALITY;
    };
  }

  /// Each value of the side with fewer of them is taken to be on the other side, too.
  static double equalColumns(ColumnOrigin a, ColumnOrigin b) {
    return (1 - a.nullFraction()) * (1 - b.nullFraction()) / Math.max(a.distinct(), b.distinct());
  }

  /// The value, if it is known now.
  private static @Nullable Constant constant(RexNode node) {
    RexNode inner = node;
    while (inner instanceof RexCall call
        && call.getOperator() instanceof PgOperators.RelabelOperator) {
      inner = call.getOperands().getFirst();
    }
    if (inner instanceof RexCall call && call.getOperator() instanceof ConstantOperator known) {
      return known.constant;
    }
    return null;
  }

  /// A predicate that has no rule: computed for known values of its column.
  private double computed(RexCall call) {
    Double known = sampled(call);
    if (known != null) {
      return known;
    }
    if (PgOperators.is(call, PgOperators.IN_LIST)) {
      double sum = 0;
      ColumnOrigin column = ColumnOrigin.of(rel, call.getOperands().getFirst());
      for (int i = 1; i < call.getOperands().size(); i++) {
        sum +=
            column == null
                ? ColumnSelectivity.DEFAULT_EQUAL
                : ColumnSelectivity.equalToSome(column);
      }
      return Math.min(1, sum);
    }
    if (PgOperators.is(call, PgOperators.IN_ARRAY)) {
      ColumnOrigin column = ColumnOrigin.of(rel, call.getOperands().getFirst());
      double each =
          column == null ? ColumnSelectivity.DEFAULT_EQUAL : ColumnSelectivity.equalToSome(column);
      return Math.min(1, UNKNOWN_ARRAY_ELEMENTS * each);
    }
    return switch (functionName(call)) {
      case "~~", "~~*", "~", "~*" -> DEFAULT_MATCH;
      case "!~~", "!~~*", "!~", "!~*" -> 1 - DEFAULT_MATCH;
      case "=" -> ColumnSelectivity.DEFAULT_EQUAL;
      case "<", "<=", ">", ">=" -> ColumnSelectivity.DEFAULT_INEQUALITY;
      default -> DEFAULT_BOOLEAN;
    };
  }

  /// Selectivity of a predicate over one column, computed for values of it that are known; null if there are none.
  private @Nullable Double sampled(RexNode predicate) {
    if (predicate instanceof RexCall call && PgOperators.is(call, PgOperators.IN_LIST)) {
      Double sum = inList(call);
      if (sum != null) {
        return sum;
      }
    }
    ImmutableBitSet columns = RelOptUtil.InputFinder.bits(predicate);
    if (columns.cardinality() != 1 || !isComputable(predicate)) {
      return null;
    }
    ColumnOrigin origin = ColumnOrigin.of(rel, columns.nth(0));
    ColumnStatistics statistics = origin == null ? null : origin.statistics();
    if (statistics == null) {
      return null;
    }
    RexNode overFirst =
        predicate.accept(
            new RexShuttle() {
              @Override
              public RexNode visitInputRef(RexInputRef reference) {
                return new RexInputRef(0, reference.getType());
              }
            });
    return SampledSelectivity.of(statistics, ExprTranslator.translate(overFirst));
  }

  /// Sum over the values of a list, because each is known better than by the histogram's bounds.
  private @Nullable Double inList(RexCall call) {
    ColumnOrigin column = ColumnOrigin.of(rel, call.getOperands().getFirst());
    if (column == null) {
      return null;
    }
    List<Constant> values = new ArrayList<>();
    for (RexNode operand : call.getOperands().subList(1, call.getOperands().size())) {
      Constant constant = constant(operand);
      if (constant == null) {
        return null;
      }
      values.add(constant);
    }
    return Math.min(
        1, values.stream().mapToDouble(value -> ColumnSelectivity.equal(column, value)).sum());
  }

  /// Whether nothing in it is known only when the statement runs.
  private static boolean isComputable(RexNode predicate) {
    boolean[] computable = {RexUtil.isDeterministic(predicate)};
    predicate.accept(
        new RexVisitorImpl<@Nullable Void>(true) {
          @Override
          public @Nullable Void visitDynamicParam(RexDynamicParam parameter) {
            computable[0] = false;
            return null;
          }

          @Override
          public @Nullable Void visitCorrelVariable(RexCorrelVariable variable) {
            computable[0] = false;
            return null;
          }

          @Override
          public @Nullable Void visitSubQuery(RexSubQuery query) {
            computable[0] = false;
            return null;
          }

          @Override
          public @Nullable Void visitCall(RexCall call) {
            computable[0] &=
                !(call.getOperator() instanceof FunctionOperator function)
                    || function.function.immutable();
            return super.visitCall(call);
          }
        });
    return computable[0];
  }
}
