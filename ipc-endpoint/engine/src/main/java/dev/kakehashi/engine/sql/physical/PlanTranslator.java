package dev.kakehashi.engine.sql.physical;

import dev.kakehashi.engine.catalog.CatalogNames;
import dev.kakehashi.engine.catalog.CatalogSnapshot;
import dev.kakehashi.engine.catalog.SystemTables;
import dev.kakehashi.engine.catalog.Table;
import dev.kakehashi.engine.catalog.listing.SystemRows;
import dev.kakehashi.engine.expr.Expr;
import dev.kakehashi.engine.plan.PlanEstimates;
import dev.kakehashi.engine.plan.PlanNode;
import dev.kakehashi.engine.plan.PlanNode.JoinKind;
import dev.kakehashi.engine.plan.PlanNode.SortKey;
import dev.kakehashi.engine.sql.algebra.BottomUp;
import dev.kakehashi.engine.sql.algebra.ExprTranslator;
import dev.kakehashi.engine.sql.algebra.ExpressionRows;
import dev.kakehashi.engine.sql.algebra.FunctionRows;
import dev.kakehashi.engine.sql.algebra.GuardedRows;
import dev.kakehashi.engine.sql.algebra.LockedRows;
import dev.kakehashi.engine.sql.algebra.PgType;
import dev.kakehashi.engine.sql.algebra.RecursiveRows;
import dev.kakehashi.engine.sql.algebra.SampledRows;
import dev.kakehashi.engine.sql.algebra.ScanShape;
import dev.kakehashi.engine.sql.algebra.WindowedRows;
import dev.kakehashi.engine.sql.algebra.WorkTableRows;
import dev.kakehashi.engine.sql.cardinality.Selectivity;
import dev.kakehashi.engine.sql.cost.AccessPath;
import dev.kakehashi.engine.sql.cost.RunCost;
import dev.kakehashi.engine.sql.optimizer.Optimizer;
import dev.kakehashi.engine.sql.typing.BindContext;
import dev.kakehashi.engine.vector.Interrupts;
import dev.kakehashi.protocol.TypeOid;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.function.Supplier;
import java.util.function.ToLongFunction;
import org.apache.calcite.plan.RelOptUtil;
import org.apache.calcite.rel.RelNode;
import org.apache.calcite.rel.core.Aggregate;
import org.apache.calcite.rel.core.AggregateCall;
import org.apache.calcite.rel.core.Correlate;
import org.apache.calcite.rel.core.CorrelationId;
import org.apache.calcite.rel.core.Filter;
import org.apache.calcite.rel.core.Intersect;
import org.apache.calcite.rel.core.Join;
import org.apache.calcite.rel.core.Minus;
import org.apache.calcite.rel.core.Project;
import org.apache.calcite.rel.core.Sort;
import org.apache.calcite.rel.core.Union;
import org.apache.calcite.rel.core.Values;
import org.apache.calcite.rex.RexBuilder;
import org.apache.calcite.rex.RexCorrelVariable;
import org.apache.calcite.rex.RexFieldAccess;
import org.apache.calcite.rex.RexNode;
import org.apache.calcite.rex.RexOver;
import org.apache.calcite.rex.RexShuttle;
import org.apache.calcite.rex.RexUtil;
import org.jspecify.annotations.Nullable;

/// Turns optimised algebra into a physical plan: access paths, join methods, sort with limit.
public final class PlanTranslator {
  /// Entries of an index that may have to be looked at before one fulfils the condition, where a scan would look at all rows.
  private static final int MAX_ENTRIES_FOR_EXTREME = 10;

  private final RexBuilder rex;
  private final CatalogSnapshot catalog;
  private final ToLongFunction<Table> rowCount;

  private final PlanEstimates estimates;

  /// Parameters given so far: the statement's, then outer columns of correlations.
  private int parameters;

  public PlanTranslator(BindContext context) {
    this.parameters = context.parameterCount();
    this.rex = context.rex;
    this.catalog = context.catalog;
    this.rowCount = context.rowCount;
    this.estimates = context.estimates;
  }

  public PlanNode translate(RelNode rel) {
    Interrupts.check();
    PlanNode node = node(rel);
    estimates.expect(node, rows(rel));
    // Nodes between this and its inputs give as many rows as it does.
    if (node instanceof PlanNode.Project project) {
      estimates.expect(project.input(), rows(rel));
    }
    return node;
  }

  private PlanNode node(RelNode rel) {
    ScanShape shape = ScanShape.of(rel, rex);
    if (shape != null) {
      return scan(rel, shape);
    }
    return switch (rel) {
      case Project project -> project(project);
      case Filter filter ->
          new PlanNode.Filter(
              translate(filter.getInput()), ExprTranslator.translate(filter.getCondition()));
      case Aggregate aggregate -> aggregate(aggregate);
      case Join join -> new JoinTranslator(rex, this).translate(join);
      case Sort sort -> sort(sort);
      case WindowedRows windows -> windows.plan(translate(windows.getInput()));
      case LockedRows locked -> LockTranslator.translate(locked, translate(locked.getInput()));
      case Correlate correlate -> correlate(correlate, () -> translate(correlate.getLeft()));
      case RecursiveRows recursion ->
          new PlanNode.Recursion(
              translate(Optimizer.optimize(recursion.anchor())),
              translate(Optimizer.optimize(recursion.step())),
              recursion.all,
              recursion.number);
      case SampledRows sampled ->
          new PlanNode.SampleScan(
              sampled.table().tableId(),
              sampled.sample.fraction(),
              sampled.sample.seed(),
              java.util.stream.IntStream.range(0, sampled.table().columns().size()).toArray(),
              oids(sampled));
      case WorkTableRows table -> new PlanNode.WorkTable(table.number, oids(table));
      case Union union -> new SetOperations(this).union(union);
      case Intersect intersect ->
          new SetOperations(this).counted(intersect.getInputs(), true, intersect.all);
      case Minus minus -> new SetOperations(this).counted(minus.getInputs(), false, minus.all);
      case ExpressionRows rows -> rows(rows);
      case FunctionRows rows ->
          new PlanNode.FunctionScan(
              rows.function, ExprTranslator.translate(rows.arguments), rows.ordinality);
      case Values values -> values(values);
      default -> throw ExprTranslator.unsupported(unsupported(rel));
    };
  }

  private static String unsupported(RelNode rel) {
    return rel.getRelTypeName();
  }

  private PlanNode scan(RelNode rel, ScanShape shape) {
    Table table = shape.table();
    if (table.isSystem()) {
      return systemScan(shape);
    }
    RelNode unfiltered = rel;
    while (unfiltered instanceof Filter filter) {
      unfiltered = filter.getInput();
    }
    RelNode all = unfiltered;
    return AccessPath.choose(
        table,
        shape.columns(),
        shape.conjuncts(),
        rex,
        range -> rows(all) * Selectivity.of(all, RexUtil.composeConjunction(rex, range)));
  }

  private PlanNode systemScan(ScanShape shape) {
    Table table = shape.table();
    int[] columns = shape.columns();
    CatalogSnapshot snapshot = catalog;
    ToLongFunction<Table> live = rowCount;
    int[] oids = new int[shape.columns().length];
    for (int i = 0; i < oids.length; i++) {
      oids[i] = table.columns().get(shape.columns()[i]).type().oid();
    }
    PlanNode plan =
        new PlanNode.SystemScan(
            table.schema() + "." + table.name(),
            (viewer, schema, name) ->
                SystemRows.of(table, new CatalogNames(snapshot, schema, name), live, viewer),
            columns,
            named(shape, SystemTables.schemaColumn(table)),
            named(shape, SystemTables.nameColumn(table)),
            oids);
    return shape.conjuncts().isEmpty()
        ? plan
        : new PlanNode.Filter(
            plan, ExprTranslator.translate(RexUtil.composeConjunction(rex, shape.conjuncts())));
  }

  /// Value that the column has to equal, or null.
  private static @Nullable Expr named(ScanShape shape, int column) {
    RexNode value =
        column < 0 ? null : AccessPath.equalText(shape.columns(), shape.conjuncts(), column);
    return value == null ? null : ExprTranslator.translate(value);
  }

  private PlanNode project(Project project) {
    PlanNode input = translate(project.getInput());
    return RexOver.containsOver(project.getProjects(), null)
        ? NumberedRows.project(project, input)
        : new PlanNode.Project(input, ExprTranslator.translate(project.getProjects()));
  }

  private PlanNode aggregate(Aggregate aggregate) {
    PlanNode extreme = extreme(aggregate);
    return new AggregateTranslator(
            aggregate, extreme == null ? translate(aggregate.getInput()) : extreme)
        .translate();
  }

  /// The row with the least or greatest value of a column, from an index that leads to it, if nothing else is aggregated; null if none
  /// does, or if the rows that fulfil the condition are so few that the first of them may be far from the index's end.
  private @Nullable PlanNode extreme(Aggregate aggregate) {
    if (aggregate.getGroupType() != Aggregate.Group.SIMPLE
        || !aggregate.getGroupSet().isEmpty()
        || aggregate.getAggCallList().size() != 1) {
      return null;
    }
    AggregateCall call = aggregate.getAggCallList().getFirst();
    String name = AggregateTranslator.name(call);
    boolean greatest = name.equals("max");
    if (!(greatest || name.equals("min")) || call.getArgList().size() != 1 || call.filterArg >= 0) {
      return null;
    }
    RelNode input = aggregate.getInput();
    // Nulls count for nothing: where they are wanted is not where an index has them, so that none
    // is taken that may have some at its end.
    SortKey key = new SortKey(call.getArgList().getFirst(), greatest, !greatest);
    PlanNode ordered = RunCost.ordered(input, List.of(key), rex);
    if (ordered == null || !isNear(ordered, input)) {
      return null;
    }
    estimates.expect(ordered, 1);
    PlanNode first = new PlanNode.Limit(ordered, null, Expr.Constant.of(TypeOid.INT8, 1));
    estimates.expect(first, 1);
    return first;
  }

  /// Whether one of the first entries of an index is likely to fulfil the condition.
  private static boolean isNear(PlanNode ordered, RelNode input) {
    PlanNode node = ordered;
    while (node instanceof PlanNode.Project project) {
      node = project.input();
    }
    RelNode table = input;
    while (!table.getInputs().isEmpty()) {
      table = table.getInput(0);
    }
    return (node instanceof PlanNode.IndexScan scan && scan.filter() == null)
        || rows(input) * MAX_ENTRIES_FOR_EXTREME >= rows(table);
  }

  private PlanNode sort(Sort sort) {
    Expr offset = sort.offset == null ? null : ExprTranslator.translate(sort.offset);
    Expr limit = sort.fetch == null ? null : ExprTranslator.translate(sort.fetch);
    List<SortKey> keys = RunCost.keys(sort);
    if (keys.isEmpty()) {
      return new PlanNode.Limit(translate(sort.getInput()), offset, limit);
    }
    PlanNode ordered = RunCost.ordered(sort, rex);
    if (ordered == null) {
      ordered = OrderedRows.choose(sort, this);
    }
    return ordered == null
        ? new PlanNode.Sort(translate(sort.getInput()), keys, offset, limit)
        : new PlanNode.Limit(ordered, offset, limit);
  }

  /// @param left makes the plan of the left side; called once
  PlanNode correlate(Correlate correlate, Supplier<PlanNode> left) {
    CorrelationId id = correlate.getCorrelationId();
    GuardedRows guarded = GuardedRows.of(correlate);
    RelNode subquery = guarded == null ? correlate.getRight() : guarded.opened(correlate);
    int[] columns =
        guarded == null
            ? correlate.getRequiredColumns().toArray()
            : RelOptUtil.correlationColumns(id, subquery).toArray();
    int first = takeParameters(columns.length);
    RexShuttle toParameters =
        new RexShuttle() {
          @Override
          public RexNode visitFieldAccess(RexFieldAccess access) {
            if (!(access.getReferenceExpr() instanceof RexCorrelVariable variable)
                || !variable.id.equals(id)) {
              return access;
            }
            int position = Arrays.binarySearch(columns, access.getField().getIndex());
            if (position < 0) {
              throw new IllegalStateException(access + " is not among the columns of " + correlate);
            }
            return rex.makeDynamicParam(access.getType(), first + position);
          }
        };
    RelNode right = BottomUp.rewrite(subquery, each -> each.accept(toParameters));
    JoinKind kind =
        switch (correlate.getJoinType()) {
          case INNER -> JoinKind.INNER;
          case LEFT -> JoinKind.LEFT;
          case SEMI -> JoinKind.SEMI;
          case ANTI -> JoinKind.ANTI;
          default -> throw ExprTranslator.unsupported("join " + correlate.getJoinType());
        };
    return new PlanNode.Correlate(
        left.get(),
        translate(right),
        kind,
        columns,
        first,
        guarded == null ? -1 : guarded.column(),
        guarded != null && columns.length == 0);
  }

  private PlanNode rows(ExpressionRows rows) {
    List<List<Expr>> values = new ArrayList<>();
    for (List<RexNode> row : rows.rows) {
      values.add(ExprTranslator.translate(row));
    }
    return new PlanNode.Values(values, oids(rows));
  }

  private PlanNode values(Values values) {
    List<List<Expr>> rows = new ArrayList<>();
    values.getTuples().forEach(tuple -> rows.add(ExprTranslator.translate(tuple)));
    return new PlanNode.Values(rows, oids(values));
  }

  private static int[] oids(RelNode rel) {
    return rel.getRowType().getFieldList().stream()
        .mapToInt(f -> PgType.of(f.getType()).oid())
        .toArray();
  }

  /// Number of the parameter that is taken next.
  int nextParameter() {
    return parameters;
  }

  /// Numbers parameters for columns of the left side of a join that the right side is run with.
  ///
  /// @return the first
  int takeParameters(int count) {
    int first = parameters;
    parameters += count;
    return first;
  }

  void expect(PlanNode node, double rows) {
    estimates.expect(node, rows);
  }

  static double rows(RelNode rel) {
    Double rows = rel.getCluster().getMetadataQuery().getRowCount(rel);
    return rows == null ? 1 : rows;
  }
}
