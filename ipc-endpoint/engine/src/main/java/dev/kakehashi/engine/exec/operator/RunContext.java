package dev.kakehashi.engine.exec.operator;

import dev.kakehashi.engine.api.ParameterBatch;
import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.engine.exec.rows.MemoryAccount;
import dev.kakehashi.engine.exec.rows.PlanProfile;
import dev.kakehashi.engine.exec.rows.RowBuffer;
import dev.kakehashi.engine.expr.EvalContext;
import dev.kakehashi.engine.plan.PlanNode;
import dev.kakehashi.engine.type.FunctionContext;
import dev.kakehashi.engine.type.FunctionSession;
import dev.kakehashi.engine.vector.Interrupts;
import dev.kakehashi.engine.vector.VarHeap;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/// State that all operators of one plan instance share while it runs. Written by [dev.kakehashi.engine.exec.run.PlanRun] between stages,
/// when no task of the statement runs.
public final class RunContext {
  /// The execution that this one is a part of (the inner side of a correlation, a term of a recursion); null: the statement's.
  private final @Nullable RunContext outer;

  private final MemoryAccount memory;

  /// Null: nothing is measured.
  private final @Nullable PlanProfile profile;

  private final VarHeap noHeap = new VarHeap();
  private final List<EvalContext> contexts = new ArrayList<>();

  /// Contexts for functions that were made for the running statement.
  private final List<FunctionContext> lent = new ArrayList<>(0);

  private @Nullable StatementScope scope;

  /// Null: the outer execution's.
  private final @Nullable ParameterTable parameters;

  private int row;

  /// Parameters of a part: the statement's, then values of outer columns.
  private long[] words = new long[0];

  private boolean[] nulls = new boolean[0];

  private @Nullable Map<Integer, List<RowBuffer>> workTables;

  /// A part of another execution.
  public RunContext(RunContext outer) {
    this.outer = outer;
    this.profile = outer.profile;
    this.memory = outer.memory;
    this.parameters = null;
  }

  /// A statement's.
  public RunContext(ParameterTable parameters, @Nullable PlanProfile profile) {
    this.outer = null;
    this.profile = profile;
    this.memory = new MemoryAccount();
    this.parameters = parameters;
  }

  public MemoryAccount memory() {
    return memory;
  }

  /// The account of what a node holds.
  public MemoryAccount memory(PlanNode node) {
    PlanProfile.Node measured = profile(node);
    return measured == null ? memory : new MemoryAccount(memory, measured);
  }

  /// Where a node is measured; null: it is not.
  public PlanProfile.@Nullable Node profile(PlanNode node) {
    return profile == null ? null : profile.find(node);
  }

  public StatementScope scope() {
    if (outer != null) {
      return outer.scope();
    }
    StatementScope current = scope;
    if (current == null) {
      throw new IllegalStateException("no statement is running");
    }
    return current;
  }

  public ParameterTable parameters() {
    if (outer != null) {
      return outer.parameters();
    }
    ParameterTable current = parameters;
    if (current == null) {
      throw new IllegalStateException("an execution without parameters");
    }
    return current;
  }

  /// Begins an execution of the statement.
  ///
  /// @throws EngineException UNDEFINED_PARAMETER
  public void begin(StatementScope newScope, ParameterBatch given) {
    scope = newScope;
    parameters().open(given);
    memory.open(newScope.memoryLimitBytes(), newScope.tempSpace(), Interrupts::check);
  }

  /// Makes row `newRow` of the parameters the current one.
  public void setRow(int newRow) {
    row = newRow;
    for (int i = 0; i < contexts.size(); i++) {
      install(contexts.get(i));
    }
  }

  /// Sets the parameters of a part of a statement.
  public void setParameters(long[] newWords, boolean[] newNulls) {
    words = newWords;
    nulls = newNulls;
    for (EvalContext context : contexts) {
      install(context);
    }
  }

  /// Makes rows visible under a number to this part and the parts within it.
  public void setWorkTable(int number, List<RowBuffer> rows) {
    Map<Integer, List<RowBuffer>> tables = workTables;
    if (tables == null) {
      tables = new HashMap<>();
      workTables = tables;
    }
    tables.put(number, rows);
  }

  public List<RowBuffer> workTable(int number) {
    List<RowBuffer> rows = workTables == null ? null : workTables.get(number);
    if (rows != null) {
      return rows;
    }
    if (outer == null) {
      throw new IllegalStateException("no work table " + number);
    }
    return outer.workTable(number);
  }

  /// A context for one more chain, with the current parameters.
  public EvalContext newContext() {
    EvalContext context = new EvalContext();
    contexts.add(context);
    install(context);
    return context;
  }

  private void install(EvalContext context) {
    if (outer == null) {
      parameters().install(row, context);
    } else {
      context.setParameters(words, nulls);
    }
    StatementScope running = scope();
    context.functions.begin(
        noHeap, running.statementTimestamp(), running.transactionTimestamp(), running);
  }

  /// A context for functions of the running statement; its heap is to be set.
  public FunctionContext newFunctionContext() {
    StatementScope running = scope();
    FunctionContext made =
        new FunctionContext(
            noHeap, running.statementTimestamp(), running.transactionTimestamp(), running);
    lent.add(made);
    return made;
  }

  /// Lets go of the statement. An instance of a plan is kept for the next one, and must not keep this one's transaction, parameters and
  /// session until then: a stale plan is never run again, and whoever ran it last may have used other plans that are stale by now, and so
  /// on without end.
  public void end() {
    scope = null;
    if (parameters != null) {
      parameters.close();
    }
    for (int i = 0; i < contexts.size(); i++) {
      contexts.get(i).functions.begin(noHeap, 0, 0, FunctionSession.NONE);
    }
    for (FunctionContext made : lent) {
      made.begin(noHeap, 0, 0, FunctionSession.NONE);
    }
    lent.clear();
    memory.close();
  }
}
