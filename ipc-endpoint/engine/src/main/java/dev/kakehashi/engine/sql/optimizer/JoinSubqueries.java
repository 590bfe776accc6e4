package dev.kakehashi.engine.sql.optimizer;

import com.google.common.collect.ImmutableSet;
import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.engine.sql.algebra.BottomUp;
import dev.kakehashi.engine.sql.algebra.ExpressionRows;
import dev.kakehashi.engine.sql.algebra.FunctionRows;
import dev.kakehashi.engine.sql.algebra.Inspection;
import dev.kakehashi.engine.sql.algebra.WorkTableRows;
import dev.kakehashi.protocol.ErrorCode;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.function.IntUnaryOperator;
import java.util.stream.IntStream;
import org.apache.calcite.plan.RelOptUtil;
import org.apache.calcite.rel.RelNode;
import org.apache.calcite.rel.core.Aggregate;
import org.apache.calcite.rel.core.Correlate;
import org.apache.calcite.rel.core.CorrelationId;
import org.apache.calcite.rel.core.Filter;
import org.apache.calcite.rel.core.Join;
import org.apache.calcite.rel.core.JoinRelType;
import org.apache.calcite.rel.core.Project;
import org.apache.calcite.rel.core.SetOp;
import org.apache.calcite.rel.core.TableScan;
import org.apache.calcite.rel.core.Values;
import org.apache.calcite.rel.logical.LogicalCorrelate;
import org.apache.calcite.rel.logical.LogicalFilter;
import org.apache.calcite.rel.logical.LogicalJoin;
import org.apache.calcite.rel.logical.LogicalProject;
import org.apache.calcite.rel.logical.LogicalUnion;
import org.apache.calcite.rel.type.RelDataType;
import org.apache.calcite.rel.type.RelDataTypeField;
import org.apache.calcite.rex.RexBuilder;
import org.apache.calcite.rex.RexCall;
import org.apache.calcite.rex.RexCorrelVariable;
import org.apache.calcite.rex.RexFieldAccess;
import org.apache.calcite.rex.RexInputRef;
import org.apache.calcite.rex.RexNode;
import org.apache.calcite.rex.RexShuttle;
import org.apache.calcite.rex.RexSubQuery;
import org.apache.calcite.rex.RexUtil;
import org.apache.calcite.rex.RexVisitorImpl;
import org.apache.calcite.sql.fun.SqlStdOperatorTable;
import org.apache.calcite.util.ImmutableBitSet;
import org.jspecify.annotations.Nullable;

/// Takes subqueries out of the conditions of joins, to where they are evaluated for the rows of one relation.
///
/// * Subqueries of an inner join become a filter above it, as they are in WHERE.
/// * Conditions of an outer join on its optional side alone become a filter of that side.
/// * Otherwise a subquery that names one side becomes a column of it; one that names both makes the optional side depend on each row of the
///   other, as LATERAL does. A full join is then the left join together with the rows on the right that it leaves.
final class JoinSubqueries {
  private final LogicalJoin join;
  private final RexBuilder rex;
  private final RelDataType left;
  private final RelDataType right;
  private final int leftCount;
  private final Set<CorrelationId> own;

  /// Conditions without subqueries.
  private final List<RexNode> plain = new ArrayList<>();

  private final List<RexNode> others = new ArrayList<>();

  private JoinSubqueries(LogicalJoin join) {
    this.join = join;
    this.rex = join.getCluster().getRexBuilder();
    this.left = join.getLeft().getRowType();
    this.right = join.getRight().getRowType();
    this.leftCount = left.getFieldCount();
    this.own = join.getVariablesSet();
    for (RexNode term : RelOptUtil.conjunctions(join.getCondition())) {
      (Inspection.hasSubquery(term) ? others : plain).add(term);
    }
  }

  /// @return the join itself if its condition has no subqueries
  static RelNode convert(LogicalJoin join) {
    JoinSubqueries converter = new JoinSubqueries(join);
    if (converter.others.isEmpty()) {
      return join;
    }
    return switch (join.getJoinType()) {
      case INNER -> converter.inner();
      case LEFT -> converter.left();
      case RIGHT -> converter.right();
      case FULL ->
          converter.others.stream().anyMatch(converter::namesBothSides)
              ? converter.full()
              : converter.joinOfColumns();
      default -> throw new IllegalStateException("join of type " + join.getJoinType());
    };
  }

  private RelNode inner() {
    RelNode joined = joined(join.getLeft(), join.getRight(), plain, JoinRelType.INNER);
    return filtered(joined, others);
  }

  /// The same join with its sides exchanged.
  private RelNode right() {
    RelDataType exchanged =
        LogicalJoin.create(
                join.getRight(),
                join.getLeft(),
                List.of(),
                rex.makeLiteral(true),
                Set.of(),
                JoinRelType.INNER)
            .getRowType();
    int rightCount = right.getFieldCount();
    IntUnaryOperator place =
        column -> column < leftCount ? column + rightCount : column - leftCount;
    Moved moved =
        new Moved() {
          @Override
          RexNode column(int column) {
            int placed = place.applyAsInt(column);
            return rex.makeInputRef(exchanged.getFieldList().get(placed).getType(), placed);
          }

          @Override
          RexNode outer(CorrelationId id, int column) {
            return rex.makeFieldAccess(rex.makeCorrel(exchanged, id), place.applyAsInt(column));
          }
        };
    RelNode rel =
        new JoinSubqueries(
                LogicalJoin.create(
                    join.getRight(),
                    join.getLeft(),
                    join.getHints(),
                    join.getCondition().accept(moved),
                    own,
                    JoinRelType.LEFT))
            .left();
    return projected(rel, leftCount + rightCount, place);
  }

  private RelNode left() {
    List<RexNode> ofRight = new ArrayList<>();
    List<RexNode> rest = new ArrayList<>();
    boolean across = false;
    for (RexNode term : others) {
      if (columns(term).nextSetBit(0) < 0 || columns(term).nextSetBit(0) >= leftCount) {
        ofRight.add(term);
      } else {
        rest.add(term);
        across |= namesBothSides(term);
      }
    }
    RelNode optional =
        ofRight.isEmpty()
            ? join.getRight()
            : filtered(join.getRight(), new OverRight(null).apply(ofRight));
    if (rest.isEmpty()) {
      return joined(join.getLeft(), optional, plain, JoinRelType.LEFT);
    }
    if (!across) {
      rest.addAll(plain);
      return new JoinSubqueries(
              LogicalJoin.create(
                  join.getLeft(),
                  optional,
                  join.getHints(),
                  RexUtil.composeConjunction(rex, rest),
                  own,
                  JoinRelType.LEFT))
          .joinOfColumns();
    }
    rest.addAll(plain);
    CorrelationId outer = join.getCluster().createCorrel();
    RelNode chosen = filtered(optional, new OverRight(outer).apply(rest));
    return LogicalCorrelate.create(
        join.getLeft(),
        chosen,
        join.getHints(),
        outer,
        RelOptUtil.correlationColumns(outer, chosen),
        JoinRelType.LEFT);
  }

  /// The rows of the left join, and those of the right side for which there is none on the left.
  private RelNode full() {
    requireSameTwice(join.getLeft());
    requireSameTwice(join.getRight());
    RelNode matched =
        new JoinSubqueries(
                LogicalJoin.create(
                    join.getLeft(),
                    join.getRight(),
                    join.getHints(),
                    join.getCondition(),
                    own,
                    JoinRelType.LEFT))
            .left();
    CorrelationId outer = join.getCluster().createCorrel();
    List<RexNode> terms = new ArrayList<>(plain);
    terms.addAll(others);
    RelNode partners = filtered(join.getLeft(), new OverLeft(outer).apply(terms));
    RelNode alone =
        LogicalFilter.create(
            join.getRight(),
            rex.makeCall(SqlStdOperatorTable.NOT, RexSubQuery.exists(partners)),
            ImmutableSet.of(outer));
    List<RexNode> columns = new ArrayList<>();
    for (RelDataTypeField field : join.getRowType().getFieldList()) {
      int column = field.getIndex();
      columns.add(
          column < leftCount
              ? rex.makeNullLiteral(field.getType())
              : rex.makeInputRef(alone, column - leftCount));
    }
    List<String> names = join.getRowType().getFieldNames();
    return LogicalUnion.create(
        List.of(matched, LogicalProject.create(alone, List.of(), columns, names, Set.of())), true);
  }

  /// Both sides are read twice, and have to be the same each time: no LIMIT, no order among equals, nothing that is made at random.
  private static void requireSameTwice(RelNode side) {
    boolean[] same = {true};
    RexShuttle looking =
        new RexShuttle() {
          @Override
          public RexNode visitCall(RexCall call) {
            same[0] &= call.getOperator().isDeterministic();
            return super.visitCall(call);
          }

          @Override
          public RexNode visitSubQuery(RexSubQuery subquery) {
            look(subquery.rel, same, this);
            return super.visitSubQuery(subquery);
          }
        };
    look(side, same, looking);
    if (!same[0]) {
      throw new EngineException(
          ErrorCode.FEATURE_NOT_SUPPORTED,
          "a subquery that names both sides in the condition of a full join of rows that are chosen or numbered is not supported");
    }
  }

  private static void look(RelNode rel, boolean[] same, RexShuttle expressions) {
    BottomUp.rewrite(
        rel,
        each -> {
          same[0] &= givesTheSameTwice(each);
          each.accept(expressions);
          return each;
        });
  }

  private static boolean givesTheSameTwice(RelNode rel) {
    return switch (rel) {
      case TableScan scan -> true;
      case Filter filter -> true;
      case Project project -> !project.containsOver();
      case Join sides -> true;
      case Correlate sides -> true;
      case Aggregate groups -> true;
      case SetOp operation -> true;
      case Values rows -> true;
      default ->
          rel instanceof FunctionRows
              || rel instanceof ExpressionRows
              || rel instanceof WorkTableRows;
    };
  }

  /// An expression with subqueries becomes a column of the side that it names. It takes along as much around it as names no other side:
  /// branches in which it stands, for one.
  private RelNode joinOfColumns() {
    List<RexNode> ofLeft = new ArrayList<>();
    List<RexNode> ofRight = new ArrayList<>();
    others.forEach(term -> collectParts(term, ofLeft, ofRight));
    RelNode newLeft = extended(join.getLeft(), ofLeft);
    RelNode newRight = extended(join.getRight(), new OverRight(null).apply(ofRight));
    int rightOffset = leftCount + ofLeft.size();
    RexShuttle placed =
        new RexShuttle() {
          @Override
          public RexNode visitInputRef(RexInputRef reference) {
            int index = reference.getIndex();
            return index < leftCount
                ? reference
                : rex.makeInputRef(reference.getType(), index + ofLeft.size());
          }

          @Override
          public RexNode visitCall(RexCall call) {
            RexNode column = column(call);
            return column == null ? super.visitCall(call) : column;
          }

          @Override
          public RexNode visitSubQuery(RexSubQuery subquery) {
            return Objects.requireNonNull(column(subquery));
          }

          private @Nullable RexNode column(RexNode part) {
            int onLeft = ofLeft.indexOf(part);
            int onRight = ofRight.indexOf(part);
            return onLeft < 0 && onRight < 0
                ? null
                : rex.makeInputRef(
                    part.getType(),
                    onLeft >= 0
                        ? leftCount + onLeft
                        : rightOffset + right.getFieldCount() + onRight);
          }
        };
    List<RexNode> conditions = new ArrayList<>(plain);
    conditions.addAll(others);
    RelNode joined = joined(newLeft, newRight, placed.apply(conditions), join.getJoinType());
    return projected(
        joined,
        leftCount + right.getFieldCount(),
        column -> column < leftCount ? column : column + ofLeft.size());
  }

  private void collectParts(RexNode node, List<RexNode> ofLeft, List<RexNode> ofRight) {
    if (!Inspection.hasSubquery(node)) {
      return;
    }
    ImmutableBitSet columns = columns(node);
    boolean onLeft = columns.intersects(ImmutableBitSet.range(leftCount));
    boolean onRight = columns.length() > leftCount;
    if (onLeft && onRight && node instanceof RexCall call && !(node instanceof RexSubQuery)) {
      call.getOperands().forEach(operand -> collectParts(operand, ofLeft, ofRight));
      return;
    }
    List<RexNode> side = onLeft ? ofLeft : ofRight;
    if (!side.contains(node)) {
      side.add(node);
    }
  }

  private RelNode joined(
      RelNode newLeft, RelNode newRight, List<RexNode> conditions, JoinRelType type) {
    return LogicalJoin.create(
        newLeft,
        newRight,
        join.getHints(),
        RexUtil.composeConjunction(rex, conditions),
        Set.of(),
        type);
  }

  private RelNode filtered(RelNode rel, List<? extends RexNode> conditions) {
    return LogicalFilter.create(
        rel, RexUtil.composeConjunction(rex, conditions), ImmutableSet.copyOf(own));
  }

  private RelNode extended(RelNode rel, List<? extends RexNode> added) {
    if (added.isEmpty()) {
      return rel;
    }
    List<RexNode> columns = new ArrayList<>(rex.identityProjects(rel.getRowType()));
    List<String> names = new ArrayList<>(rel.getRowType().getFieldNames());
    for (RexNode column : added) {
      names.add("subquery" + columns.size());
      columns.add(column);
    }
    return LogicalProject.create(rel, List.of(), columns, names, own);
  }

  /// The join's columns out of other ones.
  ///
  /// @param place of a column of the join
  private RelNode projected(RelNode rel, int count, IntUnaryOperator place) {
    List<RexNode> columns =
        IntStream.range(0, count)
            .<RexNode>mapToObj(column -> rex.makeInputRef(rel, place.applyAsInt(column)))
            .toList();
    return LogicalProject.create(
        rel, List.of(), columns, join.getRowType().getFieldNames(), Set.of());
  }

  private boolean namesBothSides(RexNode term) {
    return subqueries(List.of(term)).stream()
        .map(this::columns)
        .anyMatch(columns ->
            columns.intersects(ImmutableBitSet.range(leftCount)) && columns.length() > leftCount);
  }

  /// Subqueries that stand in no operand of another.
  private static List<RexSubQuery> subqueries(List<RexNode> expressions) {
    List<RexSubQuery> subqueries = new ArrayList<>();
    RexVisitorImpl<@Nullable Void> collector =
        new RexVisitorImpl<>(true) {
          @Override
          public @Nullable Void visitSubQuery(RexSubQuery subquery) {
            if (!subqueries.contains(subquery)) {
              subqueries.add(subquery);
            }
            return null;
          }
        };
    expressions.forEach(each -> each.accept(collector));
    return subqueries;
  }

  /// Columns of the join that an expression names, also in its subqueries.
  private ImmutableBitSet columns(RexNode expression) {
    ImmutableBitSet.Builder columns = ImmutableBitSet.builder();
    expression.accept(
        new RexVisitorImpl<@Nullable Void>(true) {
          @Override
          public @Nullable Void visitInputRef(RexInputRef reference) {
            columns.set(reference.getIndex());
            return null;
          }

          @Override
          public @Nullable Void visitSubQuery(RexSubQuery subquery) {
            own.forEach(id -> columns.addAll(RelOptUtil.correlationColumns(id, subquery.rel)));
            return super.visitSubQuery(subquery);
          }
        });
    return columns.build();
  }

  /// An expression over the join's columns, moved to other rows together with its subqueries.
  private abstract class Moved extends RexShuttle {
    abstract RexNode column(int column);

    /// A column of the row that a subquery is evaluated for.
    abstract RexNode outer(CorrelationId id, int column);

    @Override
    public RexNode visitInputRef(RexInputRef reference) {
      return column(reference.getIndex());
    }

    @Override
    public RexNode visitSubQuery(RexSubQuery subquery) {
      RexNode moved = super.visitSubQuery(subquery);
      return ((RexSubQuery) moved).clone(within(subquery.rel));
    }

    private RelNode within(RelNode rel) {
      RexShuttle names =
          new RexShuttle() {
            @Override
            public RexNode visitFieldAccess(RexFieldAccess access) {
              return access.getReferenceExpr() instanceof RexCorrelVariable variable
                      && own.contains(variable.id)
                  ? outer(variable.id, access.getField().getIndex())
                  : super.visitFieldAccess(access);
            }

            @Override
            public RexNode visitSubQuery(RexSubQuery subquery) {
              RexNode renamed = super.visitSubQuery(subquery);
              return ((RexSubQuery) renamed).clone(within(subquery.rel));
            }
          };
      return BottomUp.rewrite(rel, each -> each.accept(names));
    }
  }

  /// Expressions over the left side alone.
  private final class OverLeft extends Moved {
    private final CorrelationId rightRow;

    /// @param rightRow name of a row of the right side
    OverLeft(CorrelationId rightRow) {
      this.rightRow = rightRow;
    }

    @Override
    RexNode column(int column) {
      return column < leftCount
          ? rex.makeInputRef(left.getFieldList().get(column).getType(), column)
          : ofRight(column);
    }

    @Override
    RexNode outer(CorrelationId id, int column) {
      return column < leftCount
          ? rex.makeFieldAccess(rex.makeCorrel(left, id), column)
          : ofRight(column);
    }

    private RexNode ofRight(int column) {
      return rex.makeFieldAccess(rex.makeCorrel(right, rightRow), column - leftCount);
    }
  }

  /// Expressions over the right side alone.
  private final class OverRight extends Moved {
    private final @Nullable CorrelationId leftRow;

    /// @param leftRow name of a row of the left side, null if that is not named
    OverRight(@Nullable CorrelationId leftRow) {
      this.leftRow = leftRow;
    }

    @Override
    RexNode column(int column) {
      return column < leftCount
          ? ofLeft(column)
          : rex.makeInputRef(
              right.getFieldList().get(column - leftCount).getType(), column - leftCount);
    }

    @Override
    RexNode outer(CorrelationId id, int column) {
      return column < leftCount
          ? ofLeft(column)
          : rex.makeFieldAccess(rex.makeCorrel(right, id), column - leftCount);
    }

    private RexNode ofLeft(int column) {
      if (leftRow == null) {
        throw new IllegalStateException("column " + column + " of the other side");
      }
      return rex.makeFieldAccess(rex.makeCorrel(left, leftRow), column);
    }
  }
}
