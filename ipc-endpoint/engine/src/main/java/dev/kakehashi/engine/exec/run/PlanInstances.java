package dev.kakehashi.engine.exec.run;

import dev.kakehashi.engine.api.ParameterBatch;
import dev.kakehashi.engine.api.ResultSink;
import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.engine.exec.dml.InsertedParameters;
import dev.kakehashi.engine.exec.operator.ParameterTable;
import dev.kakehashi.engine.exec.operator.RunContext;
import dev.kakehashi.engine.exec.operator.StatementScope;
import dev.kakehashi.engine.exec.rows.MaterializedRows;
import dev.kakehashi.engine.exec.rows.PlanProfile;
import dev.kakehashi.engine.expr.Expr;
import dev.kakehashi.engine.plan.PhysicalPlan;
import dev.kakehashi.engine.plan.PlanNode;
import dev.kakehashi.engine.store.api.ColumnKind;
import dev.kakehashi.scheduler.Task;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicReferenceArray;
import java.util.function.BiConsumer;
import org.jspecify.annotations.Nullable;

/// Keeps a plan and a few idle instances of it.
final class PlanInstances implements PlanRunner {
  /// Idle instances kept for the next executions; a point query that finds one allocates next to nothing.
  private static final int MAX_IDLE = 4;

  /// An instance has vectors of 8 kB for each column, so that one of a plan with more of them is not kept: made anew it costs less than the
  /// memory that the cached plans of wide tables would hold.
  private static final int MOST_IDLE_COLUMNS = 200;

  /// Pages that a statement of level 0 may scan.
  private static final long LIGHT_PAGES = 2;

  /// Rows of a range of an index that it may read: a tenth or two of a millisecond.
  private static final double LIGHT_ROWS = 1000;

  private final PhysicalPlan plan;
  private final ColumnKind[] parameterKinds;
  private final PlanNode root;
  private final boolean insertsParameters;
  private final boolean fewRows;
  private final List<PlanNode.TableScan> scans = new ArrayList<>();
  private final int[] resultOids;
  private final int mostTasks;

  /// Most columns of the nodes that were looked at; set by the constructor alone.
  private int mostColumns;

  /// Idle instances: any execution takes one by exchanging a slot with null, and puts it back by changing a slot from null. An execution
  /// that takes one sees what the execution that put it back has done to it. An array, because a list would allocate a link for each
  /// execution.
  private final AtomicReferenceArray<@Nullable PlanInstance> idle =
      new AtomicReferenceArray<>(MAX_IDLE);

  /// Null: nothing is measured.
  private final @Nullable PlanProfile profile;

  PlanInstances(PhysicalPlan plan, int[] parameterOids) {
    this(plan, parameterOids, null);
  }

  /// @param profile of the plan's root: what the execution does is measured, and its rows are counted, not sent
  PlanInstances(PhysicalPlan plan, int[] parameterOids, @Nullable PlanProfile profile) {
    this(plan, parameterOids, profile, 0);
  }

  /// @param mostTasks that run it at a time; 0: as many as there are workers
  PlanInstances(
      PhysicalPlan plan, int[] parameterOids, @Nullable PlanProfile profile, int mostTasks) {
    this.mostTasks = mostTasks == 0 ? Integer.MAX_VALUE : mostTasks;
    this.plan = plan;
    this.profile = profile;
    this.parameterKinds = MaterializedRows.kinds(parameterOids);
    PlanNode vectorised =
        profile == null && plan instanceof PhysicalPlan.Insert insert && !takesExisting(insert)
            ? InsertedParameters.find(insert.source(), parameterOids)
            : null;
    this.insertsParameters = vectorised != null;
    this.root = vectorised != null ? vectorised : plan.source();
    boolean few = collect(root, false);
    for (PhysicalPlan.Part part : plan.parts()) {
      few &= collect(part.change().source(), false);
    }
    this.fewRows = few;
    this.resultOids = resultOids(plan, root);
  }

  private static int[] resultOids(PhysicalPlan plan, PlanNode root) {
    if (!(plan.body() instanceof PhysicalPlan.Change change)) {
      return root.typeOids();
    }
    List<Expr> returning = change.returning();
    return returning == null ? new int[0] : returning.stream().mapToInt(Expr::typeOid).toArray();
  }

  /// Each row of parameters is an execution of its own, so it may update or select what the one before has inserted.
  private static boolean takesExisting(PhysicalPlan.Insert insert) {
    return insert.conflict() != null && insert.conflict().takesExisting();
  }

  /// Collects table scans; false if the plan can be long without scanning a table.
  ///
  /// @param limited whether what comes out of the node is drawn until there is enough
  private boolean collect(PlanNode node, boolean limited) {
    mostColumns = Math.max(mostColumns, node.typeOids().length);
    return switch (node) {
      case PlanNode.TableScan scan -> {
        scans.add(scan);
        yield true;
      }
      case PlanNode.IndexScan scan -> isShort(scan, limited);
      case PlanNode.SampleScan scan -> false;
      case PlanNode.IdentityScan scan -> true;
      case PlanNode.Values values -> true;
      case PlanNode.FunctionScan scan -> false;
      case PlanNode.SystemScan scan -> true;
      case PlanNode.ParameterRows rows -> true;
      case PlanNode.Filter filter -> collect(filter.input(), limited);
      case PlanNode.Project project -> collect(project.input(), limited);
      case PlanNode.Limit limit -> collect(limit.input(), true);
      case PlanNode.LockRows lock -> collect(lock.input(), limited);
      case PlanNode.Window window -> collect(window.input(), false);
      case PlanNode.Correlate correlate -> {
        boolean few = collect(correlate.left(), limited);
        // A look at an index for each row is little more than the row; anything else may be long.
        yield collect(correlate.right(), false) && few && isLookup(correlate.right());
      }
      case PlanNode.Recursion recursion -> false;
      case PlanNode.WorkTable table -> false;
      case PlanNode.With with -> collect(with.common(), false) && collect(with.body(), false);
      case PlanNode.Expand expand -> collect(expand.input(), false);
      case PlanNode.UnionAll union ->
          union.inputs().stream().allMatch(input -> collect(input, limited));
      case PlanNode.Aggregate aggregate -> collect(aggregate.input(), false);
      case PlanNode.Sort sort -> collect(sort.input(), false);
      case PlanNode.HashJoin join -> collect(join.left(), limited) && collect(join.right(), false);
      case PlanNode.NestedLoopJoin join ->
          collect(join.left(), limited) && collect(join.right(), false);
      case PlanNode.SetOperation operation -> collect(operation.input(), false);
    };
  }

  /// Whether a range of an index is taken to have few rows, or few of them to be wanted.
  private static boolean isShort(PlanNode.IndexScan scan, boolean limited) {
    // An array may have any number of elements.
    if (scan.anyOf() != null && !(scan.anyOf().set() instanceof Expr.InList)) {
      return false;
    }
    return (limited || scan.expectedRows() < 0)
        ? !scan.equals().isEmpty()
        : scan.expectedRows() <= LIGHT_ROWS;
  }

  private static boolean isLookup(PlanNode node) {
    return node instanceof PlanNode.IndexScan
        || (node instanceof PlanNode.Project project && isLookup(project.input()));
  }

  PhysicalPlan plan() {
    return plan;
  }

  /// Whether an execution locks or changes rows, so that it may meet conflicts and is undone when it fails.
  boolean changes() {
    return plan.changesRows();
  }

  /// Whether rows are counted only.
  boolean isProfiled() {
    return profile != null;
  }

  boolean insertsParameters() {
    return insertsParameters;
  }

  /// Tasks that run it at a time, at most.
  int mostTasks() {
    return mostTasks;
  }

  int[] resultOids() {
    return resultOids;
  }

  @Override
  public int workLevel(StatementScope scope) {
    if (!fewRows) {
      return HEAVIEST;
    }
    long pages = 0;
    for (PlanNode.TableScan scan : scans) {
      pages += scope.store().table(scan.tableId()).pageCount();
    }
    return pages <= LIGHT_PAGES
        ? 0
        : Math.min(HEAVIEST, Long.SIZE - Long.numberOfLeadingZeros((pages - 1) / LIGHT_PAGES));
  }

  @Override
  public Task execute(
      StatementScope scope,
      ParameterBatch parameters,
      ResultSink sink,
      BiConsumer<@Nullable Long, @Nullable EngineException> done) {
    return new PlanRun(this, scope, parameters, sink, done);
  }

  PlanInstance take() {
    for (int i = 0; i < MAX_IDLE; i++) {
      PlanInstance instance = idle.get(i) == null ? null : idle.getAndSet(i, null);
      if (instance != null) {
        return instance;
      }
    }
    boolean withRowIds = plan.body() instanceof PhysicalPlan.Change change && change.takesRowIds();
    RunContext run = new RunContext(new ParameterTable(parameterKinds), profile);
    return new PlanInstance(plan.parts(), root, withRowIds, run);
  }

  void giveBack(PlanInstance instance) {
    if (mostColumns > MOST_IDLE_COLUMNS) {
      return;
    }
    for (int i = 0; i < MAX_IDLE; i++) {
      if (idle.get(i) == null && idle.compareAndSet(i, null, instance)) {
        return;
      }
    }
  }
}
