package dev.kakehashi.engine.sql.optimizer;

import com.google.common.collect.ImmutableSet;
import dev.kakehashi.engine.sql.algebra.Inspection;
import dev.kakehashi.engine.sql.algebra.RulePlanner;
import dev.kakehashi.engine.sql.cost.CorrelationCost;
import java.util.List;
import java.util.Set;
import org.apache.calcite.plan.Contexts;
import org.apache.calcite.plan.RelOptRule;
import org.apache.calcite.plan.RelRule;
import org.apache.calcite.plan.hep.HepMatchOrder;
import org.apache.calcite.plan.hep.HepProgram;
import org.apache.calcite.plan.hep.HepProgramBuilder;
import org.apache.calcite.rel.RelNode;
import org.apache.calcite.rel.core.Aggregate;
import org.apache.calcite.rel.core.Correlate;
import org.apache.calcite.rel.core.CorrelationId;
import org.apache.calcite.rel.core.Filter;
import org.apache.calcite.rel.core.Join;
import org.apache.calcite.rel.core.JoinRelType;
import org.apache.calcite.rel.core.Project;
import org.apache.calcite.rel.core.RelFactories;
import org.apache.calcite.rel.logical.LogicalFilter;
import org.apache.calcite.rel.rules.CoreRules;
import org.apache.calcite.rel.rules.FilterAggregateTransposeRule;
import org.apache.calcite.rel.rules.FilterCorrelateRule;
import org.apache.calcite.rel.rules.FilterJoinRule;
import org.apache.calcite.rel.rules.FilterMergeRule;
import org.apache.calcite.rel.rules.FilterProjectTransposeRule;
import org.apache.calcite.rel.rules.FilterSetOpTransposeRule;
import org.apache.calcite.rel.rules.JoinPushExpressionsRule;
import org.apache.calcite.rel.rules.LoptOptimizeJoinRule;
import org.apache.calcite.rel.rules.ProjectMergeRule;
import org.apache.calcite.rel.rules.SemiJoinRule;
import org.apache.calcite.rex.RexBuilder;
import org.apache.calcite.rex.RexCall;
import org.apache.calcite.rex.RexNode;
import org.apache.calcite.rex.RexShuttle;
import org.apache.calcite.rex.RexUtil;
import org.apache.calcite.tools.RelBuilder;
import org.apache.calcite.tools.RelBuilderFactory;

/// Rewrites algebra with Calcite's rules: subqueries to joins, filters down, joins in a good order, unused columns away.
///
/// No rule that computes is used: constants were folded by PostgreSQL's functions, and nothing is reduced by Calcite's own. Conditions that
/// are moved stay in their order, because one may fail for rows that those before it leave out: PostgreSQL evaluates them in the order that
/// it chose, and sends them in.
public final class Optimizer {
  /// Builders that do not simplify: simplifying puts negations last, and takes out IS NOT NULL of what a later condition is strict in.
  private static final RelBuilderFactory BUILDERS =
      RelBuilder.proto(
          Contexts.of(
              RelBuilder.Config.DEFAULT.withSimplify(false),
              (RelFactories.FilterFactory) Optimizer::filter));

  /// Expressions that give another value at each call are computed once for a row. So conditions on them stay above, and expressions
  /// computed from them, too.
  private static final RelOptRule FILTER_PROJECT_TRANSPOSE =
      FilterProjectTransposeRule.Config.DEFAULT
          .withOperandFor(
              Filter.class,
              filter -> !RexUtil.containsCorrelation(filter.getCondition()),
              Project.class,
              Optimizer::isDeterministic)
          .withCopyFilter(false)
          .withRelBuilderFactory(BUILDERS)
          .toRule();

  private static final RelOptRule FILTER_INTO_JOIN =
      moving(FilterJoinRule.FilterIntoJoinRule.FilterIntoJoinRuleConfig.DEFAULT);
  private static final RelOptRule JOIN_CONDITION_PUSH =
      moving(FilterJoinRule.JoinConditionPushRule.JoinConditionPushRuleConfig.DEFAULT);
  private static final RelOptRule FILTER_MERGE = moving(FilterMergeRule.Config.DEFAULT);

  private static final RelOptRule PROJECT_MERGE =
      moving(
          ProjectMergeRule.Config.DEFAULT.withOperandSupplier(upper ->
              upper
                  .operand(Project.class)
                  .oneInput(lower ->
                      lower
                          .operand(Project.class)
                          .predicate(Optimizer::isDeterministic)
                          .anyInputs())));

  private static final HepProgram PUSH_DOWN =
      program(
          FILTER_INTO_JOIN,
          moving(FilterCorrelateRule.Config.DEFAULT),
          JOIN_CONDITION_PUSH,
          FILTER_PROJECT_TRANSPOSE,
          moving(FilterAggregateTransposeRule.Config.DEFAULT),
          moving(FilterSetOpTransposeRule.Config.DEFAULT),
          FILTER_MERGE,
          PROJECT_MERGE,
          CoreRules.PROJECT_REMOVE,
          CoreRules.AGGREGATE_PROJECT_MERGE,
          CoreRules.AGGREGATE_REMOVE,
          CoreRules.UNION_MERGE);

  /// A join with the groups of its keys, of which nothing else is used, is a semi-join with the grouped rows. Calcite takes that for true
  /// without keys, too, where there is one row even if there are no rows to group.
  private static final HepProgram SEMI_JOINS =
      program(
          SemiJoinRule.ProjectToSemiJoinRule.ProjectToSemiJoinRuleConfig.DEFAULT
              .withOperandSupplier(upper ->
                  upper
                      .operand(Project.class)
                      .oneInput(join ->
                          join.operand(Join.class)
                              .predicate(Optimizer::maySelect)
                              .inputs(
                                  left -> left.operand(RelNode.class).anyInputs(),
                                  right ->
                                      right
                                          .operand(Aggregate.class)
                                          .predicate(Optimizer::hasGroups)
                                          .anyInputs())))
              .toRule());

  private static final HepProgram MULTI_JOINS =
      new HepProgramBuilder()
          .addMatchOrder(HepMatchOrder.BOTTOM_UP)
          .addRuleInstance(CoreRules.JOIN_TO_MULTI_JOIN)
          .addRuleInstance(CoreRules.PROJECT_MULTI_JOIN_MERGE)
          .addRuleInstance(CoreRules.FILTER_MULTI_JOIN_MERGE)
          .build();

  /// For what [JoinOrder] leaves: outer joins, and more inputs than it can take.
  private static final HepProgram JOIN_ORDER = program(moving(LoptOptimizeJoinRule.Config.DEFAULT));

  private static final HepProgram FINISH =
      program(
          FILTER_INTO_JOIN,
          JOIN_CONDITION_PUSH,
          moving(JoinPushExpressionsRule.Config.DEFAULT),
          FILTER_PROJECT_TRANSPOSE,
          FILTER_MERGE,
          PROJECT_MERGE,
          CoreRules.PROJECT_REMOVE);

  /// Filters stay above the column choice here, so that a scan reads the chosen columns only.
  private static final HepProgram MERGE_PROJECTS = program(PROJECT_MERGE, CoreRules.PROJECT_REMOVE);

  private static final int MAX_ORDERED_JOINS = 12;

  private Optimizer() {}

  public static RelNode optimize(RelNode query) {
    RelNode rel = IndexedExpressions.use(query);
    RelBuilder builder = RelFactories.LOGICAL_BUILDER.create(rel.getCluster(), null);
    boolean subqueries = Inspection.hasSubquery(rel);
    if (subqueries) {
      rel = ExistsJoins.convert(RowSubqueries.convert(rel));
      subqueries = Inspection.hasSubquery(rel);
    }
    if (subqueries || Inspection.any(rel, Correlate.class::isInstance)) {
      rel = LimitFirst.apply(SubqueryRemoval.apply(rel, builder));
      rel = OuterConditions.push(Decorrelation.apply(rel, byRow(rel), builder));
    }
    rel = run(PUSH_DOWN, rel);
    int joins = Inspection.count(rel, Join.class::isInstance);
    if (joins > 0) {
      rel = run(PUSH_DOWN, OrRestrictions.add(rel));
      rel = AggregateRestrictions.add(rel);
      rel = run(SEMI_JOINS, rel);
      joins = Inspection.count(rel, Join.class::isInstance);
    }
    if (joins > 1 && joins <= MAX_ORDERED_JOINS) {
      rel = run(JOIN_ORDER, JoinOrder.choose(run(MULTI_JOINS, rel)));
    }
    if (joins > 0) {
      rel = run(FINISH, rel);
    }
    rel = new FieldTrimmer(BUILDERS.create(rel.getCluster(), null)).trim(rel);
    return run(MERGE_PROJECTS, rel);
  }

  /// Subqueries that stay correlated, because they cost less for each row than in one join.
  private static Set<CorrelationId> byRow(RelNode rel) {
    return Inspection.any(rel, each -> each instanceof Correlate c && CorrelationCost.isOpen(c))
        ? CorrelationCost.byRow(OuterConditions.push(run(PUSH_DOWN, rel)))
        : Set.of();
  }

  /// A rule that leaves the conditions as they are.
  private static RelOptRule moving(RelRule.Config config) {
    return config.withRelBuilderFactory(BUILDERS).toRule();
  }

  /// Flat on all levels, as Calcite wants conditions: what is put in place of a column may be OR in an OR.
  private static RelNode filter(RelNode input, RexNode condition, Set<CorrelationId> variables) {
    RexBuilder rex = input.getCluster().getRexBuilder();
    return LogicalFilter.create(
        input,
        condition.accept(
            new RexShuttle() {
              @Override
              public RexNode visitCall(RexCall call) {
                return RexUtil.flatten(rex, super.visitCall(call));
              }
            }),
        ImmutableSet.copyOf(variables));
  }

  private static boolean maySelect(Join join) {
    return join.getJoinType() == JoinRelType.INNER || join.getJoinType() == JoinRelType.LEFT;
  }

  private static boolean hasGroups(Aggregate aggregate) {
    return aggregate.getGroupType() == Aggregate.Group.SIMPLE && aggregate.getGroupCount() > 0;
  }

  private static boolean isDeterministic(Project project) {
    return project.getProjects().stream().allMatch(RexUtil::isDeterministic);
  }

  private static HepProgram program(RelOptRule... rules) {
    return new HepProgramBuilder().addRuleCollection(List.of(rules)).build();
  }

  private static RelNode run(HepProgram program, RelNode rel) {
    RulePlanner planner = new RulePlanner(program, rel.getCluster().getPlanner().getCostFactory());
    planner.setRoot(rel);
    return planner.findBestExp();
  }
}
