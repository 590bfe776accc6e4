package dev.kakehashi.engine.sql.cost;

import dev.kakehashi.engine.expr.Expr;
import dev.kakehashi.engine.plan.PlanNode;
import dev.kakehashi.engine.plan.PlanNode.SortKey;
import dev.kakehashi.engine.sql.algebra.BottomUp;
import dev.kakehashi.engine.sql.algebra.ExprTranslator;
import dev.kakehashi.engine.sql.algebra.ScanShape;
import dev.kakehashi.engine.sql.cardinality.RowEstimates;
import dev.kakehashi.engine.sql.cardinality.Selectivity;
import java.util.ArrayList;
import java.util.List;
import java.util.function.ToDoubleFunction;
import org.apache.calcite.rel.RelFieldCollation;
import org.apache.calcite.rel.RelNode;
import org.apache.calcite.rel.core.Aggregate;
import org.apache.calcite.rel.core.Correlate;
import org.apache.calcite.rel.core.Filter;
import org.apache.calcite.rel.core.Join;
import org.apache.calcite.rel.core.Project;
import org.apache.calcite.rel.core.Sort;
import org.apache.calcite.rex.RexBuilder;
import org.apache.calcite.rex.RexInputRef;
import org.apache.calcite.rex.RexNode;
import org.apache.calcite.rex.RexUtil;
import org.jspecify.annotations.Nullable;

/// Cost of a query that is run once, in the unit of [JoinCost]. It is a guess from how the tables are read. It tells a few rows found by an
/// index from all rows of a table.
public final class RunCost {
  /// How much cheaper the rows have to be that are found first and sorted then: an index in the order of the result ends early if they are
  /// spread as expected.
  private static final double SORT_MARGIN = 2;

  /// Part of the rows that a limit leaves that is not known, as PostgreSQL takes it.
  private static final double UNKNOWN_LIMIT = 0.1;

  private final RexBuilder rex;

  private RunCost(RexBuilder rex) {
    this.rex = rex;
  }

  /// Cost of a subquery for each outer row.
  public static double ofSubquery(Correlate correlate, RexBuilder rex) {
    // With parameters in place of outer columns, as it is planned.
    RelNode planned =
        BottomUp.rewrite(correlate.getRight(), each -> each.accept(IndexLookup.parameters(rex)));
    return JoinCost.lookups(1, 0) + new RunCost(rex).run(planned);
  }

  /// Cost of a sort with a limit that sorts its input.
  public static double sorted(Sort sort, RexBuilder rex) {
    return sorted(sort, new RunCost(rex).run(sort.getInput()));
  }

  /// Part of the rows of its input that a sort with a limit leaves.
  public static double part(Sort sort) {
    double rows = rows(sort.getInput());
    return wanted(sort, rows) / rows;
  }

  /// Cost of all rows of a relation in an order that an index has; infinite if none has it.
  public static double inOrder(RelNode rel, List<SortKey> keys, RexBuilder rex) {
    InOrder found = InOrder.of(rel, keys, rex);
    PlanNode.IndexScan scan = found == null ? null : found.scan(rex, estimates(found.rel, rex));
    return scan == null ? Double.POSITIVE_INFINITY : JoinCost.lookups(1, scan.expectedRows());
  }

  /// The input of a sort with a limit through an index that has its order already; null if there is none, or if it is likely to pass many
  /// more rows than are found otherwise.
  public static @Nullable PlanNode ordered(Sort sort, RexBuilder rex) {
    InOrder found = sort.fetch == null ? null : InOrder.of(sort.getInput(), keys(sort), rex);
    PlanNode.IndexScan scan = found == null ? null : found.scan(rex, null);
    if (found == null || scan == null) {
      return null;
    }
    RunCost cost = new RunCost(rex);
    boolean passesMany =
        scan.filter() != null
            && cost.inOrder(sort) > SORT_MARGIN * sorted(sort, cost.run(sort.getInput()));
    return passesMany ? null : found.plan(scan);
  }

  public static List<SortKey> keys(Sort sort) {
    List<SortKey> keys = new ArrayList<>();
    for (RelFieldCollation field : sort.getCollation().getFieldCollations()) {
      keys.add(
          new SortKey(
              field.getFieldIndex(),
              field.getDirection().isDescending(),
              field.nullDirection == RelFieldCollation.NullDirection.FIRST));
    }
    return keys;
  }

  /// The keys as those of a project's input; null if one of them is computed.
  public static @Nullable List<SortKey> below(Project project, List<SortKey> keys) {
    List<SortKey> below = new ArrayList<>();
    for (SortKey key : keys) {
      if (!(project.getProjects().get(key.column()) instanceof RexInputRef reference)) {
        return null;
      }
      below.add(new SortKey(reference.getIndex(), key.descending(), key.nullsFirst()));
    }
    return below;
  }

  /// A relation through an index that has an order already, if there is one.
  public static @Nullable PlanNode ordered(RelNode input, List<SortKey> keys, RexBuilder rex) {
    InOrder found = InOrder.of(input, keys, rex);
    PlanNode.IndexScan scan = found == null ? null : found.scan(rex, null);
    return found == null || scan == null ? null : found.plan(scan);
  }

  /// A table's scan in an order that an index may have.
  ///
  /// @param rel the scan with column choice and filters
  /// @param projects above it, the lowest first
  private record InOrder(
      RelNode rel, ScanShape shape, AccessPath.WantedOrder order, List<Project> projects) {
    static @Nullable InOrder of(RelNode input, List<SortKey> keys, RexBuilder rex) {
      if (keys.isEmpty()) {
        return null;
      }
      boolean descending = keys.getFirst().descending();
      if (keys.stream().anyMatch(key -> key.descending() != descending)) {
        return null;
      }
      List<SortKey> wanted = keys;
      List<Project> projects = new ArrayList<>();
      RelNode rel = input;
      ScanShape shape = ScanShape.of(rel, rex);
      while (shape == null && rel instanceof Project project) {
        wanted = below(project, wanted);
        if (wanted == null) {
          return null;
        }
        projects.addFirst(project);
        rel = project.getInput();
        shape = ScanShape.of(rel, rex);
      }
      if (shape == null || shape.table().isSystem()) {
        return null;
      }
      int[] ofTable = shape.columns();
      AccessPath.WantedOrder order =
          new AccessPath.WantedOrder(
              wanted.stream().map(key -> ofTable[key.column()]).toList(),
              descending,
              keys.stream().allMatch(key -> key.nullsFirst() == descending));
      return new InOrder(rel, shape, order, projects);
    }

    PlanNode plan(PlanNode.IndexScan scan) {
      PlanNode plan = scan;
      for (Project project : projects) {
        plan = new PlanNode.Project(plan, ExprTranslator.translate(project.getProjects()));
      }
      return plan;
    }

    /// Null if no index has the order.
    PlanNode.@Nullable IndexScan scan(
        RexBuilder rex, @Nullable ToDoubleFunction<List<RexNode>> rows) {
      return AccessPath.ordered(
          shape.table(), shape.columns(), shape.conjuncts(), order, rex, rows);
    }
  }

  private double run(RelNode rel) {
    ScanShape shape = ScanShape.of(rel, rex);
    if (shape != null && !shape.table().isSystem()) {
      return scan(rel, shape);
    }
    if (rel instanceof Correlate correlate) {
      return run(correlate.getLeft()) + rows(correlate.getLeft()) * ofSubquery(correlate, rex);
    }
    double inputs = 0;
    for (RelNode input : rel.getInputs()) {
      inputs += run(input);
    }
    return switch (rel) {
      case Sort sort -> sort(sort, inputs);
      case Join join -> join(join, inputs);
      case Aggregate aggregate -> inputs + rows(aggregate.getInput());
      default -> inputs;
    };
  }

  private double join(Join join, double inputs) {
    RelNode left = join.getLeft();
    RelNode right = join.getRight();
    double hashed = inputs + JoinCost.hashJoin(rows(left), rows(right));
    IndexLookup lookup =
        IndexLookup.ofJoin(left, right, join.getCondition(), IndexLookup.NO_PARAMETER);
    double lookups =
        lookup == null
            ? Double.POSITIVE_INFINITY
            : run(left) + JoinCost.lookups(rows(left), lookup.found());
    return Math.min(hashed, lookups) + rows(join);
  }

  private double scan(RelNode rel, ScanShape shape) {
    PlanNode plan =
        AccessPath.choose(
            shape.table(), shape.columns(), shape.conjuncts(), rex, estimates(rel, rex));
    return plan instanceof PlanNode.IndexScan scan
        ? JoinCost.lookups(1, scan.expectedRows())
        : rows(unfiltered(rel)) * JoinCost.READ_ROW;
  }

  /// How many rows of a filtered table fulfil some of the conditions.
  private static ToDoubleFunction<List<RexNode>> estimates(RelNode rel, RexBuilder rex) {
    RelNode all = unfiltered(rel);
    return terms -> rows(all) * Selectivity.of(all, RexUtil.composeConjunction(rex, terms));
  }

  private static RelNode unfiltered(RelNode rel) {
    RelNode below = rel;
    while (below instanceof Filter filter) {
      below = filter.getInput();
    }
    return below;
  }

  private double sort(Sort sort, double input) {
    double sorted = sorted(sort, input);
    return sort.fetch == null ? sorted : Math.min(sorted, inOrder(sort));
  }

  private static double sorted(Sort sort, double input) {
    if (sort.getCollation().getFieldCollations().isEmpty()) {
      return input;
    }
    double rows = rows(sort.getInput());
    // A row that is not among the first ones so far is compared once.
    double kept = sort.fetch == null ? 1 : part(sort);
    return input + rows * (1 + (JoinCost.SORTED_ROW - 1) * kept);
  }

  /// As many entries of the index are passed as hold the rows that are wanted, of those within its bounds.
  private double inOrder(Sort sort) {
    return JoinCost.lookups(1, 0) + part(sort) * inOrder(sort.getInput(), keys(sort), rex);
  }

  /// Rows up to the end of the limit, of as many as there are.
  private static double wanted(Sort sort, double rows) {
    return Math.clamp(count(sort.fetch, UNKNOWN_LIMIT * rows) + count(sort.offset, 0), 1, rows);
  }

  private static double count(@Nullable RexNode count, double unknown) {
    return count != null
            && ExprTranslator.translate(count) instanceof Expr.Constant constant
            && !constant.isNull()
        ? constant.word()
        : unknown;
  }

  private static double rows(RelNode rel) {
    return new RowEstimates().getRowCount(rel);
  }
}
