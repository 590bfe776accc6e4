package dev.kakehashi.engine.sql.optimizer;

import dev.kakehashi.engine.sql.algebra.BottomUp;
import dev.kakehashi.engine.sql.algebra.Branches;
import dev.kakehashi.engine.sql.algebra.GuardedRows;
import dev.kakehashi.engine.sql.algebra.Inspection;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import org.apache.calcite.plan.RelOptUtil;
import org.apache.calcite.rel.RelNode;
import org.apache.calcite.rel.core.CorrelationId;
import org.apache.calcite.rel.core.Filter;
import org.apache.calcite.rel.core.JoinRelType;
import org.apache.calcite.rel.core.Project;
import org.apache.calcite.rel.logical.LogicalFilter;
import org.apache.calcite.rel.logical.LogicalProject;
import org.apache.calcite.rel.metadata.RelMdUtil;
import org.apache.calcite.rel.metadata.RelMetadataQuery;
import org.apache.calcite.rel.type.RelDataType;
import org.apache.calcite.rex.RexBuilder;
import org.apache.calcite.rex.RexCall;
import org.apache.calcite.rex.RexFieldAccess;
import org.apache.calcite.rex.RexNode;
import org.apache.calcite.rex.RexShuttle;
import org.apache.calcite.rex.RexSubQuery;
import org.apache.calcite.rex.RexUtil;
import org.apache.calcite.sql.SqlKind;
import org.apache.calcite.sql.SqlOperator;
import org.apache.calcite.sql.fun.SqlQuantifyOperator;
import org.apache.calcite.sql.fun.SqlStdOperatorTable;
import org.apache.calcite.tools.RelBuilder;
import org.apache.calcite.util.ImmutableBitSet;
import org.jspecify.annotations.Nullable;

/// Turns subqueries of expressions into joins, and into a Correlate where they name the row that they are evaluated for.
///
/// It does what Calcite's `SubQueryRemoveRule` does. That one forgets after the first subquery of a list which names are those of its row,
/// takes a list without such names for the owner of all that its subqueries use, overlooks subqueries that others compare something with,
/// and takes null for true below functions below NOT. Here the innermost go first, each with the names of the relation that it stands in.
///
/// A subquery that may fail and stands in a branch, as of CASE, is evaluated by row, for rows that take the branch ([GuardedRows]). A
/// subquery that depends on no row is evaluated by row only if it has one row at most. Otherwise it is computed in any case.
final class SubqueryRemoval {
  private final RelBuilder builder;
  private final RexBuilder rex;
  private final Branches branches;

  private SubqueryRemoval(RelBuilder builder) {
    this.builder = builder;
    this.rex = builder.getRexBuilder();
    this.branches = new Branches(rex);
  }

  /// @param rel without subqueries in the conditions of joins, see [JoinSubqueries]
  static RelNode apply(RelNode rel, RelBuilder builder) {
    return new SubqueryRemoval(builder).visit(rel);
  }

  private RelNode visit(RelNode rel) {
    return BottomUp.rewrite(
        rel,
        each ->
            switch (each) {
              case Filter filter when Inspection.hasSubquery(filter.getCondition()) ->
                  filter(filter);
              case Project project
                  when project.getProjects().stream().anyMatch(Inspection::hasSubquery) ->
                  project(project);
              default -> each.getVariablesSet().isEmpty() ? each : unnamed(each);
            });
  }

  /// Without a name for its input's rows that nothing has a use for: Calcite would take columns of another relation with the same name for
  /// its input's.
  private static RelNode unnamed(RelNode rel) {
    return switch (rel) {
      case Project project ->
          LogicalProject.create(
              project.getInput(),
              project.getHints(),
              project.getProjects(),
              project.getRowType().getFieldNames(),
              Set.of());
      case Filter filter -> LogicalFilter.create(filter.getInput(), filter.getCondition());
      default -> rel;
    };
  }

  private RelNode filter(Filter filter) {
    List<RexNode> plain = new ArrayList<>();
    List<RexNode> asking = new ArrayList<>();
    for (RexNode term : RelOptUtil.conjunctions(filter.getCondition())) {
      boolean asks = Inspection.hasSubquery(term) || RexUtil.containsCorrelation(term);
      (asks ? asking : plain).add(term);
    }
    // Conditions of this query alone come first. Relations made of the outer query, copies
    // included, then have the rows that the subqueries are for.
    builder.push(
        plain.isEmpty()
            ? filter.getInput()
            : LogicalFilter.create(filter.getInput(), RexUtil.composeConjunction(rex, plain)));
    builder.filter(
        removed(
            List.of(RexUtil.composeConjunction(rex, asking)),
            Context.MUST_HOLD,
            filter.getVariablesSet()));
    builder.project(builder.fields().subList(0, filter.getRowType().getFieldCount()));
    return builder.build();
  }

  private RelNode project(Project project) {
    builder.push(project.getInput());
    List<RexNode> columns = removed(project.getProjects(), Context.ANY, project.getVariablesSet());
    return LogicalProject.create(
        builder.build(),
        project.getHints(),
        columns,
        project.getRowType().getFieldNames(),
        Set.of());
  }

  /// Use of an expression's value.
  private enum Context {
    /// Rows for which it is not true are dropped.
    MUST_HOLD,

    /// Null is as good as false.
    FALSE_IF_NULL,

    ANY;

    Context below(RexCall call) {
      return switch (call.getKind()) {
        case AND -> this;
        case OR -> this == MUST_HOLD ? FALSE_IF_NULL : this;
        case IS_TRUE -> FALSE_IF_NULL;
        default -> ANY;
      };
    }
  }

  /// Joins the rows on top of the builder's stack with the subqueries of expressions over them.
  ///
  /// @param own names that the subqueries have for these rows
  /// @return the expressions over the joined rows
  private List<RexNode> removed(
      List<RexNode> expressions, Context context, Set<CorrelationId> own) {
    List<RexNode> rest = expressions;
    while (true) {
      Found found = null;
      for (int i = 0; found == null && i < rest.size(); i++) {
        found = find(rest.get(i), context, List.of());
      }
      if (found == null) {
        return rest;
      }
      RexSubQuery subquery = found.subquery;
      RelNode rows = visit(subquery.rel);
      Set<CorrelationId> names = RelOptUtil.getVariablesUsed(rows);
      names.retainAll(own);
      if (names.size() > 1) {
        throw new IllegalStateException("a subquery has several names for one row: " + names);
      }
      boolean inBranch = !found.conditions.isEmpty() && Branches.areRepeatable(found.conditions);
      Place place =
          inBranch && isGuarded(found, rows, names)
              ? guarded(found, names)
              : new Place(found.context, names, null);
      RexSubQuery asked = inBranch ? withGuardedOperands(found) : subquery;
      // Another place with the same subquery may have other rows to ask it for.
      boolean here = place.guard != null || !asked.equals(subquery);
      rest = replaced(rest, subquery, value(asked, rows, place), here);
    }
  }

  /// @param context what the value of the subquery is for
  /// @param conditions those of the branches that it stands in, each to be evaluated if those before it are true
  private record Found(RexSubQuery subquery, Context context, List<RexNode> conditions) {}

  /// @param names that the subquery has for the row, one at most
  /// @param guard null: it is asked for all rows
  private record Place(Context context, Set<CorrelationId> names, @Nullable RexFieldAccess guard) {}

  /// The first subquery without others in what it compares; null if there is none.
  private @Nullable Found find(RexNode node, Context context, List<RexNode> conditions) {
    if (node instanceof RexSubQuery subquery) {
      for (RexNode operand : subquery.getOperands()) {
        Found found = find(operand, Context.ANY, conditions);
        if (found != null) {
          return found;
        }
      }
      return new Found(subquery, context, conditions);
    }
    if (!(node instanceof RexCall call)) {
      return null;
    }
    for (int i = 0; i < call.getOperands().size(); i++) {
      RexNode operand = call.getOperands().get(i);
      if (Inspection.hasSubquery(operand)) {
        List<RexNode> all = new ArrayList<>(conditions);
        all.addAll(branches.conditions(call, i, context == Context.MUST_HOLD));
        return find(operand, context.below(call), all);
      }
    }
    return null;
  }

  /// Whether it is not to be asked for rows that its branch is not taken for.
  private static boolean isGuarded(Found found, RelNode rows, Set<CorrelationId> names) {
    boolean refuses = found.subquery.getKind() == SqlKind.SCALAR_QUERY && !isSingle(rows);
    return (refuses || Failures.mayFail(rows)) && (!names.isEmpty() || isOnce(found, rows));
  }

  /// Whether it has one row at most, or is asked for a row further out, and all rows may share what it has: there may be several tasks, of
  /// which each asks.
  private static boolean isOnce(Found found, RelNode rows) {
    SqlKind kind = found.subquery.getKind();
    return (kind == SqlKind.SCALAR_QUERY
            || kind == SqlKind.EXISTS
            || !RelOptUtil.getVariablesUsed(rows).isEmpty())
        && !Inspection.any(rows, Decorrelation::isRandom);
  }

  /// Adds a column to the rows on top of the stack that says whether the subquery is asked.
  private Place guarded(Found found, Set<CorrelationId> names) {
    RelNode input = builder.build();
    List<RexNode> columns = new ArrayList<>(rex.identityProjects(input.getRowType()));
    columns.add(
        RexUtil.flatten(
            rex,
            rex.makeCall(
                SqlStdOperatorTable.IS_TRUE, RexUtil.composeConjunction(rex, found.conditions))));
    RelNode rows = LogicalProject.create(input, List.of(), columns, (List<String>) null, Set.of());
    builder.push(rows);
    CorrelationId id = names.isEmpty() ? rows.getCluster().createCorrel() : names.iterator().next();
    RexNode guard = rex.makeFieldAccess(rex.makeCorrel(rows.getRowType(), id), columns.size() - 1);
    return new Place(found.context, Set.of(id), (RexFieldAccess) guard);
  }

  /// Operands of the subquery are a part of the condition of a join, which is evaluated for all rows.
  private RexSubQuery withGuardedOperands(Found found) {
    List<RexNode> operands = new ArrayList<>();
    for (RexNode operand : found.subquery.getOperands()) {
      if (!Failures.mayFail(operand)) {
        operands.add(operand);
        continue;
      }
      RelDataType type = rex.getTypeFactory().createTypeWithNullability(operand.getType(), true);
      RexNode taken = RexUtil.composeConjunction(rex, found.conditions);
      operands.add(
          rex.makeCall(
              type, SqlStdOperatorTable.CASE, List.of(taken, operand, rex.makeNullLiteral(type))));
    }
    return operands.equals(found.subquery.getOperands())
        ? found.subquery
        : found.subquery.clone(found.subquery.getType(), operands);
  }

  /// @param first whether in the first place only
  private static List<RexNode> replaced(
      List<RexNode> expressions, RexSubQuery subquery, RexNode value, boolean first) {
    return new RexShuttle() {
      private boolean done;

      @Override
      public RexNode visitSubQuery(RexSubQuery each) {
        if (!each.equals(subquery) || (first && done)) {
          return super.visitSubQuery(each);
        }
        done = true;
        return value;
      }
    }.apply(expressions);
  }

  /// Joins with a subquery.
  ///
  /// @return its value over the joined rows
  private RexNode value(RexSubQuery subquery, RelNode rows, Place place) {
    RelMetadataQuery metadata = rows.getCluster().getMetadataQuery();
    boolean empty = RelMdUtil.isRelDefinitelyEmpty(metadata, rows);
    return switch (subquery.getKind()) {
      case SCALAR_QUERY -> scalar(rows, place);
      case EXISTS ->
          empty || RelMdUtil.isRelDefinitelyNotEmpty(metadata, rows)
              ? rex.makeLiteral(!empty)
              : exists(rows, place);
      case IN -> empty ? none(subquery) : in(subquery, rows, place);
      case SOME -> empty ? none(subquery) : some(subquery, rows, place);
      default -> throw new IllegalStateException("subquery of kind " + subquery.getKind());
    };
  }

  private RexNode none(RexSubQuery subquery) {
    return rex.makeLiteral(false, subquery.getType(), true);
  }

  /// Whether there is one row at most.
  private static boolean isSingle(RelNode rows) {
    return Boolean.TRUE.equals(
        rows.getCluster().getMetadataQuery().areColumnsUnique(rows, ImmutableBitSet.of()));
  }

  private RexNode scalar(RelNode rows, Place place) {
    builder.push(rows);
    if (!isSingle(rows)) {
      builder.aggregate(
          builder.groupKey(),
          builder.aggregateCall(SqlStdOperatorTable.SINGLE_VALUE, builder.field(0)));
    }
    join(JoinRelType.LEFT, List.of(), place);
    return last(1);
  }

  private RexNode exists(RelNode rows, Place place) {
    builder.push(rows).project(rex.makeLiteral(true)).aggregate(builder.groupKey(0));
    if (place.context == Context.MUST_HOLD) {
      join(JoinRelType.INNER, List.of(), place);
      return rex.makeLiteral(true);
    }
    join(JoinRelType.LEFT, List.of(), place);
    return builder.isNotNull(last(1));
  }

  /// With `c` rows of which `d` are not null, and `match` if one of them equals: false if c = 0, null if the operand is null, true if there
  /// is a match, null if d < c, else false.
  private RexNode in(RexSubQuery subquery, RelNode rows, Place place) {
    List<RexNode> operands = subquery.getOperands();
    if (place.context == Context.MUST_HOLD) {
      int offset = builder.fields().size();
      builder.push(rows);
      builder.aggregate(builder.groupKey(builder.fields()));
      join(JoinRelType.INNER, equalities(operands, offset), place);
      return rex.makeLiteral(true);
    }
    if (operands.size() > 1) {
      throw new IllegalStateException("a row compared with rows as a value: " + subquery);
    }
    RexNode operand = operands.getFirst();
    boolean nullable =
        operand.getType().isNullable()
            || rows.getRowType().getFieldList().getFirst().getType().isNullable();
    List<RexNode> branches = new ArrayList<>();
    RexNode unknown = rex.makeNullLiteral(subquery.getType());
    RexNode someNull = rex.makeLiteral(false);
    if (nullable && place.context == Context.ANY) {
      builder.push(rows);
      builder.aggregate(
          builder.groupKey(),
          builder.count(false, "c"),
          builder.count(false, "d", builder.field(0)));
      join(place.names.isEmpty() ? JoinRelType.INNER : JoinRelType.LEFT, List.of(), place);
      RexNode all = last(2);
      RexNode known = last(1);
      branches.add(noRows(all));
      branches.add(rex.makeLiteral(false));
      someNull = builder.lessThan(known, all);
    }
    int offset = builder.fields().size();
    builder.push(rows);
    builder.aggregate(builder.groupKey(builder.fields()), builder.literalAgg(true).as("match"));
    join(JoinRelType.LEFT, equalities(operands, offset), place);
    if (!branches.isEmpty() && operand.getType().isNullable()) {
      branches.add(builder.isNull(operand));
      branches.add(unknown);
    }
    branches.add(builder.isNotNull(last(1)));
    branches.add(rex.makeLiteral(true));
    if (!someNull.isAlwaysFalse()) {
      branches.add(someNull);
      branches.add(unknown);
    }
    branches.add(rex.makeLiteral(false));
    return rex.makeCall(subquery.getType(), SqlStdOperatorTable.CASE, branches);
  }

  /// Comparisons of operands with the columns on top of the stack, as they are when joined with what is below.
  private List<RexNode> equalities(List<RexNode> operands, int offset) {
    List<RexNode> equalities = new ArrayList<>();
    for (int i = 0; i < operands.size(); i++) {
      equalities.add(builder.equals(operands.get(i), RexUtil.shift(builder.field(i), offset)));
    }
    return equalities;
  }

  /// `operand < ANY (rows)` and its like are decided by the least or greatest of the rows, `<>` by both.
  private RexNode some(RexSubQuery subquery, RelNode rows, Place place) {
    RexNode operand = subquery.getOperands().getFirst();
    SqlKind kind = ((SqlQuantifyOperator) subquery.getOperator()).comparisonKind;
    SqlOperator comparison = Objects.requireNonNull(RexUtil.op(kind));
    builder.push(rows);
    builder.aggregate(
        builder.groupKey(),
        builder.min("least", builder.field(0)),
        builder.max("greatest", builder.field(0)),
        builder.count(false, "c"),
        builder.count(false, "d", builder.field(0)));
    join(place.names.isEmpty() ? JoinRelType.INNER : JoinRelType.LEFT, List.of(), place);
    RexNode least = rex.makeCall(comparison, operand, last(4));
    RexNode greatest = rex.makeCall(comparison, operand, last(3));
    RexNode compared =
        switch (kind) {
          case GREATER_THAN, GREATER_THAN_OR_EQUAL -> least;
          case LESS_THAN, LESS_THAN_OR_EQUAL -> greatest;
          case NOT_EQUALS -> builder.or(least, greatest);
          default -> throw new IllegalStateException("comparison with ANY of kind " + kind);
        };
    List<RexNode> branches =
        List.of(
            noRows(last(2)),
            rex.makeLiteral(false),
            rex.makeCall(SqlStdOperatorTable.IS_TRUE, compared),
            rex.makeLiteral(true),
            builder.lessThan(last(1), last(2)),
            rex.makeNullLiteral(subquery.getType()),
            compared);
    return rex.makeCall(subquery.getType(), SqlStdOperatorTable.CASE, branches);
  }

  /// @param count null if the subquery has become an outer join that has found nothing
  private RexNode noRows(RexNode count) {
    RexNode zero = builder.equals(count, builder.literal(0));
    return count.getType().isNullable() ? builder.or(builder.isNull(count), zero) : zero;
  }

  private void join(JoinRelType type, List<RexNode> conditions, Place place) {
    if (place.guard != null) {
      builder.push(new GuardedRows(builder.build(), place.guard));
    }
    builder.join(type, RexUtil.composeConjunction(rex, conditions), place.names);
  }

  /// The last column on top of the stack is 1, the one before 2.
  private RexNode last(int ordinal) {
    return builder.field(builder.fields().size() - ordinal);
  }
}
