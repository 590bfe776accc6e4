package dev.kakehashi.engine.exec.run;

import dev.kakehashi.engine.api.ResultSink;
import dev.kakehashi.engine.exec.aggregate.AggregateBreaker;
import dev.kakehashi.engine.exec.dml.LockOperator;
import dev.kakehashi.engine.exec.dml.StatementChanges;
import dev.kakehashi.engine.exec.join.JoinBreaker;
import dev.kakehashi.engine.exec.join.JoinOperator;
import dev.kakehashi.engine.exec.operator.Breaker;
import dev.kakehashi.engine.exec.operator.NodeState;
import dev.kakehashi.engine.exec.operator.Operator;
import dev.kakehashi.engine.exec.operator.Projection;
import dev.kakehashi.engine.exec.operator.RowOperators;
import dev.kakehashi.engine.exec.operator.RunContext;
import dev.kakehashi.engine.exec.operator.ScanActivity;
import dev.kakehashi.engine.exec.operator.SetOperator;
import dev.kakehashi.engine.exec.result.ResultWriter;
import dev.kakehashi.engine.exec.rows.PlanProfile;
import dev.kakehashi.engine.exec.scan.FunctionScan;
import dev.kakehashi.engine.exec.scan.IndexScans;
import dev.kakehashi.engine.exec.scan.SampleOperator;
import dev.kakehashi.engine.exec.scan.ScanOperators;
import dev.kakehashi.engine.exec.scan.SharedScan;
import dev.kakehashi.engine.exec.scan.SystemScanOperator;
import dev.kakehashi.engine.exec.sort.SortBreaker;
import dev.kakehashi.engine.exec.window.WindowBreaker;
import dev.kakehashi.engine.expr.EvalContext;
import dev.kakehashi.engine.plan.PhysicalPlan;
import dev.kakehashi.engine.plan.PlanNode;
import dev.kakehashi.engine.plan.PlanNode.JoinKind;
import java.util.ArrayList;
import java.util.IdentityHashMap;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// One runnable copy of a plan: its stages, the shared states of its nodes, the chains of its tasks. Reused by later executions,
/// by one at a time.
final class PlanInstance {
  /// A chain, the context it evaluates with, and what writes its rows. Used by one task at a time.
  static final class Chain {
    private final Operator top;
    private final EvalContext context;
    private @Nullable ResultWriter writer;

    Chain(Operator top, EvalContext context) {
      this.top = top;
      this.context = context;
    }

    Operator top() {
      return top;
    }

    EvalContext context() {
      return context;
    }

    /// The writer of the chain's rows, until the chain is closed.
    ResultWriter writer(ResultSink sink, int[] typeOids) {
      ResultWriter present = writer;
      if (present == null) {
        present = new ResultWriter(typeOids);
        writer = present;
      }
      present.open(sink);
      return present;
    }

    void close() {
      top.close();
      if (writer != null) {
        writer.close();
      }
    }
  }

  private final RunContext run;
  private final StatementChanges changes;
  private final IdentityHashMap<PlanNode, NodeState> states = new IdentityHashMap<>();
  private final List<NodeState> stateList = new ArrayList<>();
  private final List<ScanOperators.Morsels> tables = new ArrayList<>(0);
  private final List<Stage> stages = new ArrayList<>();
  private final List<List<Chain>> chains = new ArrayList<>();

  /// @param root input of the statement's consumer
  /// @param withRowIds whether the consumer wants row identifiers of the scan
  PlanInstance(PlanNode root, boolean withRowIds, RunContext run) {
    this(List.of(), root, withRowIds, run);
  }

  /// @param parts whose stages come first
  PlanInstance(List<PhysicalPlan.Part> parts, PlanNode root, boolean withRowIds, RunContext run) {
    this.run = run;
    this.changes = new StatementChanges(run);
    for (PhysicalPlan.Part part : parts) {
      addStages(part.change().source());
      addStage(part.change().source(), null, part.change().takesRowIds(), part);
    }
    addStages(root);
    addStage(root, null, withRowIds);
  }

  RunContext context() {
    return run;
  }

  StatementChanges changes() {
    return changes;
  }

  List<Stage> stages() {
    return stages;
  }

  /// Chain number `task` of a stage.
  Chain chain(int stage, int task) {
    List<Chain> ofStage = chains.get(stage);
    while (ofStage.size() <= task) {
      EvalContext context = run.newContext();
      Stage built = stages.get(stage);
      ofStage.add(new Chain(build(built.input(), context, built.withRowIds()), context));
    }
    return ofStage.get(task);
  }

  void open() {
    // Without iterators, here and below: a point select is to allocate little.
    for (int i = 0; i < stateList.size(); i++) {
      stateList.get(i).open(run);
    }
  }

  /// How far the execution reads its tables, once it is open; null: it is too little to be told.
  @Nullable ScanActivity scans() {
    return PlanScans.isWorthIt(tables) ? PlanScans.of(tables) : null;
  }

  void close() {
    for (int stage = 0; stage < chains.size(); stage++) {
      List<Chain> ofStage = chains.get(stage);
      for (int task = 0; task < ofStage.size(); task++) {
        ofStage.get(task).close();
      }
    }
    for (int i = 0; i < stateList.size(); i++) {
      stateList.get(i).close();
    }
  }

  private void addStage(PlanNode input, @Nullable Breaker breaker, boolean withRowIds) {
    addStage(input, breaker, withRowIds, null);
  }

  private void addStage(
      PlanNode input,
      @Nullable Breaker breaker,
      boolean withRowIds,
      PhysicalPlan.@Nullable Part part) {
    Tasks tasks = new Tasks();
    boolean single = collect(input, tasks);
    stages.add(
        new Stage(
            input, breaker, tasks.scans, tasks.marking, tasks.heavy, single, withRowIds, part));
    chains.add(new ArrayList<>());
  }

  private void addState(PlanNode node, NodeState state) {
    states.put(node, state);
    stateList.add(state);
  }

  /// Adds the stages below a node, deepest first.
  private void addStages(PlanNode node) {
    switch (node) {
      case PlanNode.TableScan scan -> {
        ScanOperators.Morsels table = new ScanOperators.Morsels(scan);
        tables.add(table);
        addState(scan, table);
      }
      case PlanNode.IndexScan scan -> {
        if (IndexScans.isDivisible(scan)) {
          addState(scan, new IndexScans.Range(scan));
        }
      }
      case PlanNode.SampleScan scan -> {}
      case PlanNode.IdentityScan scan -> {}
      case PlanNode.Values values -> {}
      case PlanNode.FunctionScan scan -> {}
      case PlanNode.SystemScan scan -> {}
      case PlanNode.ParameterRows rows -> {}
      case PlanNode.Filter filter -> addStages(filter.input());
      case PlanNode.Project project -> addStages(project.input());
      case PlanNode.Limit limit -> addStages(limit.input());
      case PlanNode.LockRows lock -> addStages(lock.input());
      case PlanNode.Correlate correlate -> addStages(correlate.left());
      case PlanNode.Recursion recursion -> {}
      case PlanNode.WorkTable table -> {}
      case PlanNode.With with -> {
        addStages(with.common());
        addBreaker(with, with.common(), new CommonRows(with, run));
        addStages(with.body());
      }
      case PlanNode.Expand expand -> addStages(expand.input());
      case PlanNode.Window window -> {
        addStages(window.input());
        addBreaker(window, window.input(), new WindowBreaker(window, run));
      }
      case PlanNode.UnionAll union -> union.inputs().forEach(this::addStages);
      case PlanNode.Aggregate aggregate -> {
        addStages(aggregate.input());
        addBreaker(
            aggregate, aggregate.input(), new AggregateBreaker(aggregate, run.memory(aggregate)));
      }
      case PlanNode.Sort sort -> {
        addStages(sort.input());
        addBreaker(sort, sort.input(), new SortBreaker(sort, run.memory(sort)));
      }
      case PlanNode.HashJoin join -> addJoin(join, join.left(), join.right(), join.rightKeys());
      case PlanNode.NestedLoopJoin join -> addJoin(join, join.left(), join.right(), new int[0]);
      case PlanNode.SetOperation operation -> addStages(operation.input());
    }
  }

  private void addBreaker(PlanNode node, PlanNode input, Breaker breaker) {
    addState(node, breaker);
    addStage(input, profiled(node, breaker), false);
  }

  private Breaker profiled(PlanNode node, Breaker breaker) {
    PlanProfile.Node profile = run.profile(node);
    return profile == null ? breaker : new ProfiledBreaker(breaker, profile);
  }

  private void addJoin(PlanNode join, PlanNode left, PlanNode right, int[] rightKeys) {
    addStages(right);
    addBreaker(join, right, new JoinBreaker(right.typeOids(), rightKeys, run.memory(join)));
    addStages(left);
  }

  /// Scans and joins that decide how many tasks run a chain.
  private static final class Tasks {
    final List<SharedScan> scans = new ArrayList<>();
    final List<JoinBreaker> marking = new ArrayList<>();
    boolean heavy;
  }

  /// Collects the tables that a chain scans, and its joins; whether one task must run it.
  private boolean collect(PlanNode node, Tasks tasks) {
    return switch (node) {
      case PlanNode.TableScan scan -> {
        tasks.scans.add(state(scan, ScanOperators.Morsels.class));
        yield false;
      }
      case PlanNode.IndexScan scan -> {
        if (!IndexScans.isDivisible(scan)) {
          yield true;
        }
        tasks.scans.add(state(scan, IndexScans.Range.class));
        yield false;
      }
      case PlanNode.SampleScan scan -> true;
      case PlanNode.IdentityScan scan -> true;
      case PlanNode.Values values -> true;
      case PlanNode.FunctionScan scan -> true;
      case PlanNode.SystemScan scan -> true;
      case PlanNode.ParameterRows rows -> true;
      case PlanNode.Filter filter -> collect(filter.input(), tasks);
      case PlanNode.Project project -> collect(project.input(), tasks);
      case PlanNode.Limit limit -> {
        collect(limit.input(), tasks);
        yield true;
      }
      case PlanNode.LockRows lock -> {
        // Changes of one transaction are made by one thread at a time.
        collect(lock.input(), tasks);
        yield true;
      }
      case PlanNode.UnionAll union -> {
        boolean single = false;
        for (PlanNode input : union.inputs()) {
          single |= collect(input, tasks);
        }
        yield single;
      }
      case PlanNode.Aggregate aggregate -> true;
      case PlanNode.Sort sort -> true;
      case PlanNode.Window window -> {
        tasks.scans.add(state(window, WindowBreaker.class).shares());
        yield false;
      }
      case PlanNode.Correlate correlate -> {
        tasks.heavy = true;
        yield collect(correlate.left(), tasks) || locksRows(correlate.right());
      }
      case PlanNode.Recursion recursion -> true;
      case PlanNode.WorkTable table -> true;
      case PlanNode.With with -> collect(with.body(), tasks);
      case PlanNode.Expand expand -> collect(expand.input(), tasks);
      case PlanNode.SetOperation operation -> collect(operation.input(), tasks);
      case PlanNode.HashJoin join -> {
        collectMarking(join, join.kind(), tasks);
        yield collect(join.left(), tasks);
      }
      case PlanNode.NestedLoopJoin join -> {
        tasks.heavy = true;
        collectMarking(join, join.kind(), tasks);
        yield collect(join.left(), tasks);
      }
    };
  }

  private void collectMarking(PlanNode join, JoinKind kind, Tasks tasks) {
    if (JoinOperator.marksRight(kind)) {
      tasks.marking.add(state(join, JoinBreaker.class));
    }
  }

  private static boolean locksRows(PlanNode node) {
    return node instanceof PlanNode.LockRows
        || node.inputs().stream().anyMatch(PlanInstance::locksRows);
  }

  private <T extends NodeState> T state(PlanNode node, Class<T> type) {
    NodeState state = states.get(node);
    if (state == null) {
      throw new IllegalStateException("node without state: " + node);
    }
    return type.cast(state);
  }

  private Operator build(PlanNode node, EvalContext context, boolean withRowIds) {
    Operator operator = operator(node, context, withRowIds);
    PlanProfile.Node profile = run.profile(node);
    return profile == null ? operator : new ProfiledOperator(operator, profile);
  }

  private Operator operator(PlanNode node, EvalContext context, boolean withRowIds) {
    return switch (node) {
      case PlanNode.TableScan scan ->
          new ScanOperators.TableScan(
              run, state(scan, ScanOperators.Morsels.class), context, withRowIds);
      case PlanNode.IndexScan scan ->
          new IndexScans.Scan(
              run,
              scan,
              IndexScans.isDivisible(scan) ? state(scan, IndexScans.Range.class) : null,
              context,
              withRowIds);
      case PlanNode.SampleScan scan -> new SampleOperator(run, scan);
      case PlanNode.IdentityScan scan ->
          new ScanOperators.IdentityScan(run, scan, context, withRowIds);
      case PlanNode.Values values -> new ScanOperators.Values(values, context);
      case PlanNode.FunctionScan scan -> new FunctionScan(scan, context);
      case PlanNode.SystemScan scan -> new SystemScanOperator(scan, context);
      case PlanNode.ParameterRows rows -> new ScanOperators.ParameterScan(run, rows);
      case PlanNode.Filter filter ->
          new RowOperators.Filter(
              build(filter.input(), context, withRowIds), filter.predicate(), context);
      case PlanNode.Project project ->
          new Projection(
              build(project.input(), context, withRowIds), project.expressions(), context);
      case PlanNode.Limit limit ->
          new RowOperators.Limit(build(limit.input(), context, withRowIds), limit, context);
      case PlanNode.Expand expand ->
          new RowOperators.Expand(build(expand.input(), context, withRowIds), expand);
      case PlanNode.Correlate correlate ->
          new CorrelateOperator(
              build(correlate.left(), context, withRowIds),
              new SubPlan(correlate.right(), run),
              correlate,
              context);
      case PlanNode.Recursion recursion -> new RecursionOperator(run, recursion, context);
      case PlanNode.WorkTable table -> new ScanOperators.WorkTable(run, table);
      case PlanNode.With with -> build(with.body(), context, withRowIds);
      case PlanNode.LockRows lock ->
          new LockOperator(run, build(lock.input(), context, withRowIds), lock);
      case PlanNode.UnionAll union -> {
        Operator[] inputs = new Operator[union.inputs().size()];
        for (int i = 0; i < inputs.length; i++) {
          inputs[i] = build(union.inputs().get(i), context, withRowIds);
        }
        yield new RowOperators.Union(inputs);
      }
      case PlanNode.Aggregate aggregate -> state(aggregate, AggregateBreaker.class).source();
      case PlanNode.Sort sort -> state(sort, SortBreaker.class).source();
      case PlanNode.Window window -> state(window, WindowBreaker.class).source(context);
      case PlanNode.SetOperation operation ->
          new SetOperator(build(operation.input(), context, withRowIds), operation);
      case PlanNode.HashJoin join ->
          new JoinOperator(
              build(join.left(), context, withRowIds),
              state(join, JoinBreaker.class),
              join.kind(),
              join.leftKeys(),
              join.left().typeOids(),
              join.condition(),
              context);
      case PlanNode.NestedLoopJoin join ->
          new JoinOperator(
              build(join.left(), context, withRowIds),
              state(join, JoinBreaker.class),
              join.kind(),
              new int[0],
              join.left().typeOids(),
              join.condition(),
              context);
    };
  }
}
