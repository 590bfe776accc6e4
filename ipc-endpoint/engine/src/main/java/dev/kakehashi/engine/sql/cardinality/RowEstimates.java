package dev.kakehashi.engine.sql.cardinality;

import dev.kakehashi.engine.expr.Expr;
import dev.kakehashi.engine.sql.algebra.ColumnOrigin;
import dev.kakehashi.engine.sql.algebra.ExprTranslator;
import dev.kakehashi.engine.sql.algebra.ExpressionRows;
import dev.kakehashi.engine.sql.algebra.RecursiveRows;
import dev.kakehashi.engine.vector.Interrupts;
import java.util.HashSet;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Set;
import org.apache.calcite.plan.RelOptPredicateList;
import org.apache.calcite.plan.RelOptUtil;
import org.apache.calcite.plan.hep.HepRelVertex;
import org.apache.calcite.rel.RelNode;
import org.apache.calcite.rel.core.Aggregate;
import org.apache.calcite.rel.core.Correlate;
import org.apache.calcite.rel.core.Filter;
import org.apache.calcite.rel.core.Intersect;
import org.apache.calcite.rel.core.Join;
import org.apache.calcite.rel.core.JoinRelType;
import org.apache.calcite.rel.core.Minus;
import org.apache.calcite.rel.core.Project;
import org.apache.calcite.rel.core.SetOp;
import org.apache.calcite.rel.core.Sort;
import org.apache.calcite.rel.core.TableScan;
import org.apache.calcite.rel.core.Union;
import org.apache.calcite.rel.core.Values;
import org.apache.calcite.rel.metadata.RelMetadataQuery;
import org.apache.calcite.rex.RexCall;
import org.apache.calcite.rex.RexNode;
import org.apache.calcite.sql.SqlKind;
import org.apache.calcite.util.ImmutableBitSet;
import org.jspecify.annotations.Nullable;

/// Numbers of rows of relations, from the statistics of their tables. Questions of Calcite's rules about cardinality are answered here.
///
/// Confined to one thread; Calcite makes a new one when the relations have changed.
public final class RowEstimates extends RelMetadataQuery {
  private static final double DEFAULT_LIMIT_ROWS = 1000;

  /// Rounds that a recursion is taken to make.
  private static final double RECURSIONS = 10;

  private final IdentityHashMap<RelNode, Double> rows = new IdentityHashMap<>();

  public RowEstimates() {}

  @Override
  public Double getRowCount(RelNode node) {
    RelNode rel = node.stripped();
    Double known = rows.get(rel);
    if (known == null) {
      Interrupts.check();
      known = Math.max(1, estimate(rel));
      // The inputs of a relation below a planner's vertex may be replaced.
      if (!(node instanceof HepRelVertex)) {
        rows.put(rel, known);
      }
    }
    return known;
  }

  /// Calcite's rules and its decorrelator ask much of each relation: they end with their statement here, too.
  @Override
  public @Nullable Boolean areColumnsUnique(
      RelNode rel, ImmutableBitSet columns, boolean ignoreNulls) {
    Interrupts.check();
    return super.areColumnsUnique(rel, columns, ignoreNulls);
  }

  @Override
  public @Nullable Set<ImmutableBitSet> getUniqueKeys(RelNode rel, boolean ignoreNulls) {
    Interrupts.check();
    return super.getUniqueKeys(rel, ignoreNulls);
  }

  /// None of set operations: to compare those of their inputs Calcite evaluates them, by functions of its own, and knows none of ours, nor
  /// outer columns.
  @Override
  public RelOptPredicateList getPulledUpPredicates(RelNode rel) {
    Interrupts.check();
    if (rel.stripped() instanceof SetOp) {
      return RelOptPredicateList.EMPTY;
    }
    return super.getPulledUpPredicates(rel);
  }

  @Override
  public boolean clearCache(RelNode rel) {
    Interrupts.check();
    return super.clearCache(rel);
  }

  @Override
  public Double getSelectivity(RelNode rel, @Nullable RexNode predicate) {
    return Selectivity.of(rel, predicate);
  }

  @Override
  public Double getDistinctRowCount(
      RelNode rel, ImmutableBitSet groupKey, @Nullable RexNode predicate) {
    return groups(rel, groupKey, getRowCount(rel) * Selectivity.of(rel, predicate));
  }

  @Override
  public Double getPopulationSize(RelNode rel, ImmutableBitSet groupKey) {
    return groups(rel, groupKey, getRowCount(rel));
  }

  private double rows(RelNode rel) {
    return getRowCount(rel);
  }

  private double estimate(RelNode rel) {
    return switch (rel) {
      case TableScan scan -> scan.getTable().getRowCount();
      case Filter filter ->
          rows(filter.getInput()) * Selectivity.of(filter.getInput(), filter.getCondition());
      case Project project -> rows(project.getInput());
      case Join join -> join(join);
      case Aggregate aggregate -> aggregate(aggregate);
      case Sort sort -> sort(sort);
      case Correlate correlate -> correlate(correlate);
      case Union union -> sum(union.getInputs());
      case Intersect intersect -> least(intersect.getInputs());
      case Minus minus -> rows(minus.getInput(0));
      case Values values -> values.getTuples().size();
      case ExpressionRows values -> values.rows.size();
      case RecursiveRows recursion -> rows(recursion.anchor()) * RECURSIONS;
      default -> rel.getInputs().isEmpty() ? rel.estimateRowCount(this) : most(rel.getInputs());
    };
  }

  private double sum(List<RelNode> inputs) {
    return inputs.stream().mapToDouble(this::rows).sum();
  }

  private double least(List<RelNode> inputs) {
    return inputs.stream().mapToDouble(this::rows).min().orElse(1);
  }

  private double most(List<RelNode> inputs) {
    return inputs.stream().mapToDouble(this::rows).max().orElse(1);
  }

  private double sort(Sort sort) {
    double input = rows(sort.getInput());
    if (sort.fetch == null) {
      return input;
    }
    Expr limit = ExprTranslator.translate(sort.fetch);
    boolean known = limit instanceof Expr.Constant constant && !constant.isNull();
    return Math.min(input, known ? ((Expr.Constant) limit).word() : DEFAULT_LIMIT_ROWS);
  }

  private double correlate(Correlate correlate) {
    double left = rows(correlate.getLeft());
    return switch (correlate.getJoinType()) {
      case SEMI, ANTI -> left * 0.5;
      case LEFT -> left * Math.max(1, rows(correlate.getRight()));
      default -> left * rows(correlate.getRight());
    };
  }

  // ---- joins ----

  private double join(Join join) {
    double left = rows(join.getLeft());
    double right = rows(join.getRight());
    if (join.getJoinType() == JoinRelType.SEMI || join.getJoinType() == JoinRelType.ANTI) {
      double found = semiJoin(join, right);
      return left * (join.getJoinType() == JoinRelType.SEMI ? found : 1 - found);
    }
    double inner =
        left * right * joinSelectivity(join, RelOptUtil.conjunctions(join.getCondition()));
    return switch (join.getJoinType()) {
      case LEFT -> Math.max(inner, left);
      case RIGHT -> Math.max(inner, right);
      case FULL -> Math.max(inner, left + right);
      default -> inner;
    };
  }

  /// Fraction of all pairs of rows that satisfy terms over the columns of a relation which has those of both sides.
  ///
  /// Columns that are compared with a whole key of another table find one of its rows, however they depend on each other.
  public static double joinSelectivity(RelNode rel, List<RexNode> terms) {
    double result = 1;
    Set<RexNode> done = new HashSet<>();
    for (RexNode term : terms) {
      double byKey = done.contains(term) ? 1 : keySelectivity(rel, term, terms, done);
      result *= byKey;
    }
    boolean isInner = !(rel instanceof Join join) || join.getJoinType() == JoinRelType.INNER;
    for (RexNode term : terms) {
      if (!done.contains(term)) {
        result *= isInner ? Selectivity.ofJoined(rel, term) : Selectivity.of(rel, term);
      }
    }
    return result;
  }

  /// Selectivity of all the terms that compare the columns of one key, one of which `term` is; they are done then. 1 if there is none.
  private static double keySelectivity(
      RelNode rel, RexNode term, List<RexNode> terms, Set<RexNode> done) {
    ColumnOrigin[] sides = sides(rel, term);
    if (sides == null) {
      return 1;
    }
    for (int side = 0; side < 2; side++) {
      ColumnOrigin keyed = sides[side];
      ColumnOrigin other = sides[1 - side];
      ImmutableBitSet.Builder columns = ImmutableBitSet.builder();
      Set<RexNode> used = new HashSet<>();
      double notNull = 1;
      for (RexNode each : terms) {
        ColumnOrigin[] pair = sides(rel, each);
        if (pair == null || done.contains(each)) {
          continue;
        }
        for (int k = 0; k < 2; k++) {
          if (isOf(pair[k], keyed) && isOf(pair[1 - k], other)) {
            columns.set(pair[k].column());
            used.add(each);
            notNull *= 1 - pair[1 - k].nullFraction();
          }
        }
      }
      ImmutableBitSet found = columns.build();
      if (found.cardinality() > 1 && keyed.table().isKey(found)) {
        done.addAll(used);
        return notNull / Math.max(1, keyed.tableRows());
      }
    }
    return 1;
  }

  @SuppressWarnings("ReferenceEquality") // two scans of one table are two relations
  private static boolean isOf(ColumnOrigin a, ColumnOrigin b) {
    return a.scan() == b.scan();
  }

  private static ColumnOrigin @Nullable [] sides(RelNode rel, RexNode term) {
    if (!(term instanceof RexCall call) || call.getKind() != SqlKind.EQUALS) {
      return null;
    }
    ColumnOrigin a = ColumnOrigin.of(rel, call.getOperands().get(0));
    ColumnOrigin b = ColumnOrigin.of(rel, call.getOperands().get(1));
    return a == null || b == null || isOf(a, b) ? null : new ColumnOrigin[] {a, b};
  }

  /// Fraction of the left rows that find a row on the right.
  private double semiJoin(Join join, double rightRows) {
    int leftCount = join.getLeft().getRowType().getFieldCount();
    double found = 1;
    for (RexNode term : RelOptUtil.conjunctions(join.getCondition())) {
      found *= semiJoin(join, term, leftCount, rightRows);
    }
    return Math.clamp(found, 0, 1);
  }

  private double semiJoin(Join join, RexNode term, int leftCount, double rightRows) {
    if (!(term instanceof RexCall call) || call.getOperands().size() != 2) {
      return 0.5;
    }
    int a = ColumnOrigin.column(call.getOperands().get(0));
    int b = ColumnOrigin.column(call.getOperands().get(1));
    int leftColumn = Math.min(a, b);
    int rightColumn = Math.max(a, b) - leftCount;
    boolean across = leftColumn >= 0 && leftColumn < leftCount && rightColumn >= 0;
    if (!across || call.getKind() != SqlKind.EQUALS) {
      return across && call.getKind() == SqlKind.NOT_EQUALS ? 1 : 0.5;
    }
    ColumnOrigin left = ColumnOrigin.of(join.getLeft(), leftColumn);
    double leftDistinct = left == null ? rows(join.getLeft()) : left.distinct();
    double rightDistinct = groups(join.getRight(), ImmutableBitSet.of(rightColumn), rightRows);
    double notNull = left == null ? 1 : 1 - left.nullFraction();
    return notNull * Math.min(1, rightDistinct / Math.max(1, leftDistinct));
  }

  // ---- groups ----

  private double aggregate(Aggregate aggregate) {
    double input = rows(aggregate.getInput());
    double groups = 0;
    for (ImmutableBitSet set : aggregate.getGroupSets()) {
      groups += groups(aggregate.getInput(), set, input);
    }
    return groups;
  }

  /// Distinct combinations of columns in so many rows of a relation.
  private double groups(RelNode rel, ImmutableBitSet columns, double inputRows) {
    double groups = 1;
    IdentityHashMap<RelNode, double[]> tables = new IdentityHashMap<>();
    for (int column : columns) {
      ColumnOrigin origin = ColumnOrigin.of(rel, column);
      if (origin == null) {
        groups *= computedGroups(rel, column, inputRows);
      } else {
        // Columns of one table: their product, at most the table's rows.
        double[] ofTable =
            tables.computeIfAbsent(origin.scan(), s -> new double[] {1, origin.tableRows()});
        ofTable[0] = Math.min(ofTable[0] * origin.distinct(), Math.max(1, ofTable[1]));
      }
    }
    for (double[] ofTable : tables.values()) {
      groups *= remaining(ofTable[0], ofTable[1], inputRows);
    }
    return Math.clamp(groups, 1, Math.max(1, inputRows));
  }

  /// Distinct values of a computed column: as many as the column in it has, if there is just one.
  private static double computedGroups(RelNode node, int column, double inputRows) {
    RelNode rel = node.stripped();
    if (rel instanceof Project project) {
      ImmutableBitSet used = RelOptUtil.InputFinder.bits(project.getProjects().get(column));
      if (used.cardinality() == 0) {
        return 1;
      }
      ColumnOrigin origin =
          used.cardinality() == 1 ? ColumnOrigin.of(project.getInput(), used.nth(0)) : null;
      if (origin != null) {
        return Math.min(origin.distinct(), ColumnOrigin.DEFAULT_DISTINCT);
      }
    }
    return Math.min(inputRows, ColumnOrigin.DEFAULT_DISTINCT);
  }

  /// Number of the `distinct` values in `tableRows` rows that are expected in `chosen` of the rows.
  private static double remaining(double distinct, double tableRows, double chosen) {
    if (chosen >= tableRows || tableRows <= 0) {
      return distinct;
    }
    return distinct * (1 - Math.pow(1 - chosen / tableRows, tableRows / Math.max(1, distinct)));
  }
}
