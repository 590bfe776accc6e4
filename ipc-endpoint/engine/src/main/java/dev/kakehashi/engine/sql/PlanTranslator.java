package dev.kakehashi.engine.sql;

import dev.kakehashi.engine.catalog.CatalogSnapshot;
import dev.kakehashi.engine.catalog.SystemTables;
import dev.kakehashi.engine.catalog.Table;
import dev.kakehashi.engine.expr.Expr;
import dev.kakehashi.engine.plan.PlanEstimates;
import dev.kakehashi.engine.plan.PlanNode;
import dev.kakehashi.engine.plan.PlanNode.JoinKind;
import dev.kakehashi.engine.plan.PlanNode.SortKey;
import dev.kakehashi.engine.type.SqlType;
import dev.kakehashi.engine.type.number.FloatMath;
import dev.kakehashi.protocol.TypeOid;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.function.ToLongFunction;
import org.apache.calcite.plan.RelOptUtil;
import org.apache.calcite.rel.RelFieldCollation;
import org.apache.calcite.rel.RelHomogeneousShuttle;
import org.apache.calcite.rel.RelNode;
import org.apache.calcite.rel.core.Aggregate;
import org.apache.calcite.rel.core.Correlate;
import org.apache.calcite.rel.core.CorrelationId;
import org.apache.calcite.rel.core.Filter;
import org.apache.calcite.rel.core.Intersect;
import org.apache.calcite.rel.core.Join;
import org.apache.calcite.rel.core.Minus;
import org.apache.calcite.rel.core.Project;
import org.apache.calcite.rel.core.Sort;
import org.apache.calcite.rel.core.TableScan;
import org.apache.calcite.rel.core.Union;
import org.apache.calcite.rel.core.Values;
import org.apache.calcite.rex.RexBuilder;
import org.apache.calcite.rex.RexCall;
import org.apache.calcite.rex.RexCorrelVariable;
import org.apache.calcite.rex.RexFieldAccess;
import org.apache.calcite.rex.RexInputRef;
import org.apache.calcite.rex.RexNode;
import org.apache.calcite.rex.RexOver;
import org.apache.calcite.rex.RexShuttle;
import org.apache.calcite.rex.RexUtil;
import org.apache.calcite.sql.SqlKind;
import org.jspecify.annotations.Nullable;

/// Turns optimised algebra into a physical plan: access paths, join methods, sort with limit.
final class PlanTranslator {
  private final RexBuilder rex;
  private final CatalogSnapshot catalog;
  private final ToLongFunction<Table> rowCount;

  private final PlanEstimates estimates;

  /// Parameters given so far: the statement's, then outer columns of correlations.
  private int parameters;

  PlanTranslator(BindContext context) {
    this.parameters = context.parameterCount();
    this.rex = context.rex;
    this.catalog = context.catalog;
    this.rowCount = context.rowCount;
    this.estimates = context.estimates;
  }

  PlanNode translate(RelNode rel) {
    PlanNode node = node(rel);
    estimates.expect(node, rows(rel));
    // What stands between this and its inputs gives as many rows as it does.
    if (node instanceof PlanNode.Project project) {
      estimates.expect(project.input(), rows(rel));
    }
    return node;
  }

  private PlanNode node(RelNode rel) {
    ScanShape shape = ScanShape.of(rel, rex);
    if (shape != null) {
      return scan(shape);
    }
    return switch (rel) {
      case Project project -> project(project);
      case Filter filter ->
          new PlanNode.Filter(
              translate(filter.getInput()), ExprTranslator.translate(filter.getCondition()));
      case Aggregate aggregate -> aggregate(aggregate);
      case Join join -> join(join);
      case Sort sort -> sort(sort);
      case WindowedRows windows -> windows.plan(translate(windows.getInput()));
      case LockedRows locked ->
          new PlanNode.LockRows(
              translate(locked.getInput()),
              locked.locks.stream()
                  .map(l -> new PlanNode.RowLock(l.table().tableId(), l.table().name(), l.column()))
                  .toList(),
              locked.policy);
      case Correlate correlate -> correlate(correlate);
      case RecursiveRows recursion ->
          new PlanNode.Recursion(
              translate(Optimizer.optimize(recursion.anchor)),
              translate(Optimizer.optimize(recursion.step)),
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
      case Union union -> union(union);
      case Intersect intersect -> setOperation(intersect.getInputs(), true, intersect.all);
      case Minus minus -> setOperation(minus.getInputs(), false, minus.all);
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

  private PlanNode scan(ScanShape shape) {
    Table table = shape.table();
    if (table.isSystem()) {
      return systemScan(shape);
    }
    return AccessPath.choose(table, shape.columns(), shape.conjuncts(), rex);
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
            () -> systemRows(table, columns, snapshot, live),
            oids);
    return shape.conjuncts().isEmpty()
        ? plan
        : new PlanNode.Filter(
            plan, ExprTranslator.translate(RexUtil.composeConjunction(rex, shape.conjuncts())));
  }

  private static List<List<Expr>> systemRows(
      Table table, int[] columns, CatalogSnapshot catalog, ToLongFunction<Table> rowCount) {
    List<List<Expr>> rows = new ArrayList<>();
    for (@Nullable Object[] row : SystemTables.rows(table, catalog, rowCount)) {
      List<Expr> values = new ArrayList<>();
      for (int column : columns) {
        values.add(value(row[column], table.columns().get(column).type()));
      }
      rows.add(values);
    }
    return rows;
  }

  private static Expr value(@Nullable Object value, SqlType type) {
    return switch (value) {
      case null -> Expr.Constant.nullOf(type.oid());
      case Boolean bool -> Expr.Constant.of(bool);
      case Long number -> Expr.Constant.of(type.oid(), number);
      case Double number -> Expr.Constant.of(type.oid(), FloatMath.word(number));
      default -> {
        Constant text = Constant.ofText(TypeOid.TEXT, value.toString());
        yield new Expr.Constant(TypeOid.TEXT, false, text.word(), text.memory());
      }
    };
  }

  private PlanNode project(Project project) {
    PlanNode input = translate(project.getInput());
    return RexOver.containsOver(project.getProjects(), null)
        ? NumberedRows.project(project, input)
        : new PlanNode.Project(input, ExprTranslator.translate(project.getProjects()));
  }

  private PlanNode aggregate(Aggregate aggregate) {
    return new AggregateTranslator(aggregate, translate(aggregate.getInput())).translate();
  }

  private PlanNode sort(Sort sort) {
    Expr offset = sort.offset == null ? null : ExprTranslator.translate(sort.offset);
    Expr limit = sort.fetch == null ? null : ExprTranslator.translate(sort.fetch);
    List<SortKey> keys = new ArrayList<>();
    for (RelFieldCollation field : sort.getCollation().getFieldCollations()) {
      keys.add(
          new SortKey(
              field.getFieldIndex(),
              field.getDirection().isDescending(),
              field.nullDirection == RelFieldCollation.NullDirection.FIRST));
    }
    if (keys.isEmpty()) {
      return new PlanNode.Limit(translate(sort.getInput()), offset, limit);
    }
    PlanNode ordered = limit == null ? null : orderedInput(sort.getInput(), keys);
    return ordered == null
        ? new PlanNode.Sort(translate(sort.getInput()), keys, offset, limit)
        : new PlanNode.Limit(ordered, offset, limit);
  }

  /// The input through an index that has its order already, if there is one.
  private @Nullable PlanNode orderedInput(RelNode input, List<SortKey> keys) {
    if (input instanceof Project project) {
      List<SortKey> mapped = new ArrayList<>();
      for (SortKey key : keys) {
        if (!(project.getProjects().get(key.column()) instanceof RexInputRef reference)) {
          return null;
        }
        mapped.add(new SortKey(reference.getIndex(), key.descending(), key.nullsFirst()));
      }
      ScanShape whole = ScanShape.of(input, rex);
      if (whole == null) {
        PlanNode below = orderedInput(project.getInput(), mapped);
        return below == null
            ? null
            : new PlanNode.Project(below, ExprTranslator.translate(project.getProjects()));
      }
    }
    ScanShape shape = ScanShape.of(input, rex);
    if (shape == null || shape.table().isSystem()) {
      return null;
    }
    boolean descending = keys.getFirst().descending();
    if (keys.stream().anyMatch(key -> key.descending() != descending)) {
      return null;
    }
    List<Integer> columns = keys.stream().map(key -> shape.columns()[key.column()]).toList();
    return AccessPath.ordered(
        shape.table(),
        shape.columns(),
        shape.conjuncts(),
        new AccessPath.WantedOrder(columns, descending),
        rex);
  }

  private PlanNode correlate(Correlate correlate) {
    int[] columns = correlate.getRequiredColumns().toArray();
    int first = takeParameters(columns.length);
    CorrelationId id = correlate.getCorrelationId();
    RexShuttle toParameters =
        new RexShuttle() {
          @Override
          public RexNode visitFieldAccess(RexFieldAccess access) {
            if (!(access.getReferenceExpr() instanceof RexCorrelVariable variable)
                || !variable.id.equals(id)) {
              return access;
            }
            int position = Arrays.binarySearch(columns, access.getField().getIndex());
            return rex.makeDynamicParam(access.getType(), first + position);
          }
        };
    RelNode right =
        correlate
            .getRight()
            .accept(
                new RelHomogeneousShuttle() {
                  @Override
                  public RelNode visit(RelNode other) {
                    return super.visit(other).accept(toParameters);
                  }
                });
    JoinKind kind =
        switch (correlate.getJoinType()) {
          case INNER -> JoinKind.INNER;
          case LEFT -> JoinKind.LEFT;
          case SEMI -> JoinKind.SEMI;
          case ANTI -> JoinKind.ANTI;
          default -> throw ExprTranslator.unsupported("join " + correlate.getJoinType());
        };
    return new PlanNode.Correlate(
        translate(correlate.getLeft()), translate(right), kind, columns, first);
  }

  private PlanNode union(Union union) {
    List<PlanNode> inputs = new ArrayList<>();
    for (RelNode input : union.getInputs()) {
      inputs.add(translate(input));
    }
    PlanNode all = new PlanNode.UnionAll(inputs);
    if (union.all) {
      return all;
    }
    int[] keys = new int[all.typeOids().length];
    for (int i = 0; i < keys.length; i++) {
      keys[i] = i;
    }
    return new PlanNode.Aggregate(all, keys, List.of(), all.typeOids());
  }

  private PlanNode setOperation(List<RelNode> inputs, boolean intersect, boolean all) {
    PlanNode result = translate(inputs.getFirst());
    for (RelNode input : inputs.subList(1, inputs.size())) {
      PlanNode counted = counted(result, translate(input));
      estimates.expect(counted, rows(inputs.getFirst()));
      result = new PlanNode.SetOperation(counted, intersect, all);
    }
    return result;
  }

  /// The distinct rows of two inputs, and how often each is in the one and in the other.
  private static PlanNode counted(PlanNode left, PlanNode right) {
    int columns = left.typeOids().length;
    PlanNode both = new PlanNode.UnionAll(List.of(marked(left, 0), marked(right, 1)));
    int[] keys = java.util.stream.IntStream.range(0, columns).toArray();
    int[] oids = Arrays.copyOf(left.typeOids(), columns + 2);
    List<PlanNode.AggregateCall> counts = new ArrayList<>();
    for (int side = 0; side < 2; side++) {
      oids[columns + side] = TypeOid.INT8;
      counts.add(
          new PlanNode.AggregateCall(
              "count",
              new int[] {columns + side},
              new int[] {TypeOid.INT4},
              false,
              -1,
              TypeOid.INT8));
    }
    return new PlanNode.Aggregate(both, keys, counts, oids);
  }

  /// The rows with two more columns: one that is not null if they come from the left, and one for the right.
  private static PlanNode marked(PlanNode input, int side) {
    List<Expr> output = new ArrayList<>();
    int[] oids = input.typeOids();
    for (int i = 0; i < oids.length; i++) {
      output.add(new Expr.Column(i, oids[i]));
    }
    for (int i = 0; i < 2; i++) {
      output.add(
          i == side ? Expr.Constant.of(TypeOid.INT4, 1) : Expr.Constant.nullOf(TypeOid.INT4));
    }
    return new PlanNode.Project(input, output);
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

  private PlanNode join(Join join) {
    int leftCount = join.getLeft().getRowType().getFieldCount();
    List<Integer> leftKeys = new ArrayList<>();
    List<Integer> rightKeys = new ArrayList<>();
    List<RexNode> rest = new ArrayList<>();
    for (RexNode conjunct : RelOptUtil.conjunctions(join.getCondition())) {
      if (!equiKey(conjunct, leftCount, leftKeys, rightKeys)) {
        rest.add(conjunct);
      }
    }
    JoinKind kind =
        switch (join.getJoinType()) {
          case INNER -> JoinKind.INNER;
          case LEFT -> JoinKind.LEFT;
          case RIGHT -> JoinKind.RIGHT;
          case FULL -> JoinKind.FULL;
          case SEMI -> JoinKind.SEMI;
          case ANTI -> JoinKind.ANTI;
          default -> throw ExprTranslator.unsupported("join " + join.getJoinType());
        };
    PlanNode lookups = IndexJoin.choose(join, kind, this);
    if (lookups != null) {
      return lookups;
    }
    PlanNode left = translate(join.getLeft());
    PlanNode right = translate(join.getRight());
    if (leftKeys.isEmpty()) {
      return new PlanNode.NestedLoopJoin(left, right, kind, condition(rest));
    }
    boolean symmetric =
        kind == JoinKind.INNER
            || kind == JoinKind.LEFT
            || kind == JoinKind.RIGHT
            || kind == JoinKind.FULL;
    if (symmetric && rows(join.getLeft()) < rows(join.getRight())) {
      return swapped(left, right, kind, leftKeys, rightKeys, rest);
    }
    return new PlanNode.HashJoin(
        left, right, kind, ints(leftKeys), ints(rightKeys), condition(rest));
  }

  /// The hash table is built from the right side, so the smaller one goes there.
  private PlanNode swapped(
      PlanNode left,
      PlanNode right,
      JoinKind kind,
      List<Integer> leftKeys,
      List<Integer> rightKeys,
      List<RexNode> rest) {
    int leftCount = left.typeOids().length;
    int rightCount = right.typeOids().length;
    JoinKind mirrored =
        kind == JoinKind.LEFT ? JoinKind.RIGHT : kind == JoinKind.RIGHT ? JoinKind.LEFT : kind;
    List<RexNode> condition =
        rest.stream().map(term -> JoinSides.swapped(term, leftCount, rightCount)).toList();
    PlanNode swapped =
        new PlanNode.HashJoin(
            right, left, mirrored, ints(rightKeys), ints(leftKeys), condition(condition));
    return JoinSides.swappedBack(swapped, leftCount, rightCount);
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

  private static boolean equiKey(
      RexNode conjunct, int leftCount, List<Integer> leftKeys, List<Integer> rightKeys) {
    if (!(conjunct instanceof RexCall call)
        || call.getOperands().size() != 2
        || !(call.getOperands().get(0) instanceof RexInputRef a)
        || !(call.getOperands().get(1) instanceof RexInputRef b)) {
      return false;
    }
    boolean neverNull = !a.getType().isNullable() || !b.getType().isNullable();
    if (call.getKind() != SqlKind.EQUALS
        && !(call.getKind() == SqlKind.IS_NOT_DISTINCT_FROM && neverNull)) {
      return false;
    }
    RexInputRef left = a.getIndex() < leftCount ? a : b;
    RexInputRef right = a.getIndex() < leftCount ? b : a;
    if (left.getIndex() >= leftCount || right.getIndex() < leftCount) {
      return false;
    }
    leftKeys.add(left.getIndex());
    rightKeys.add(right.getIndex() - leftCount);
    return true;
  }

  private @Nullable Expr condition(List<RexNode> conjuncts) {
    RexNode all = RexUtil.composeConjunction(rex, conjuncts);
    return all.isAlwaysTrue() ? null : ExprTranslator.translate(all);
  }

  private static int[] ints(List<Integer> list) {
    return list.stream().mapToInt(Integer::intValue).toArray();
  }

  /// A scan with column choice and filters over it, in whatever order they stand.
  ///
  /// @param columns of the table that are output
  /// @param conjuncts over the output columns
  record ScanShape(Table table, int[] columns, List<RexNode> conjuncts) {
    static @Nullable ScanShape of(RelNode rel, RexBuilder rex) {
      return switch (rel) {
        case TableScan scan -> {
          Table table = ((CatalogTable) scan.getTable()).table();
          int[] columns = new int[scan.getRowType().getFieldCount()];
          for (int i = 0; i < columns.length; i++) {
            columns[i] = i < table.columns().size() ? i : PlanNode.ROW_ID;
          }
          yield new ScanShape(table, columns, List.of());
        }
        case Filter filter -> {
          ScanShape below = of(filter.getInput(), rex);
          if (below == null) {
            yield null;
          }
          List<RexNode> conjuncts = new ArrayList<>(below.conjuncts);
          conjuncts.addAll(RelOptUtil.conjunctions(filter.getCondition()));
          yield new ScanShape(below.table, below.columns, conjuncts);
        }
        case Project project -> projected(project, rex);
        default -> null;
      };
    }

    private static @Nullable ScanShape projected(Project project, RexBuilder rex) {
      ScanShape below = of(project.getInput(), rex);
      if (below == null || !below.conjuncts.isEmpty()) {
        return null;
      }
      int[] columns = new int[project.getProjects().size()];
      for (int i = 0; i < columns.length; i++) {
        if (!(project.getProjects().get(i) instanceof RexInputRef reference)) {
          return null;
        }
        columns[i] = below.columns[reference.getIndex()];
        if (columns[i] == PlanNode.ROW_ID && i < columns.length - 1) {
          return null;
        }
      }
      return new ScanShape(below.table, columns, List.of());
    }
  }
}
