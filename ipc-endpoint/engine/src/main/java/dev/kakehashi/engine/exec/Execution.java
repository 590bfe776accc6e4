package dev.kakehashi.engine.exec;

import dev.kakehashi.engine.expr.EvalContext;
import dev.kakehashi.engine.type.FunctionContext;
import dev.kakehashi.engine.vector.VarHeap;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// What all operators of one plan instance share while it runs. Written by [StatementRun] between stages, when no task of the statement runs.
final class Execution {
  private final MemoryAccount memory = new MemoryAccount();
  private final VarHeap noHeap = new VarHeap();
  private final List<EvalContext> contexts = new ArrayList<>();
  private @Nullable StatementScope scope;
  private @Nullable ParameterTable parameters;
  private int row;

  MemoryAccount memory() {
    return memory;
  }

  StatementScope scope() {
    StatementScope current = scope;
    if (current == null) {
      throw new IllegalStateException("no statement is running");
    }
    return current;
  }

  ParameterTable parameters() {
    ParameterTable current = parameters;
    if (current == null) {
      throw new IllegalStateException("no statement is running");
    }
    return current;
  }

  void begin(StatementScope newScope, ParameterTable newParameters) {
    scope = newScope;
    parameters = newParameters;
    memory.open(newScope.memoryLimitBytes());
  }

  /// Makes row `newRow` of the parameters the current one.
  void setRow(int newRow) {
    row = newRow;
    for (EvalContext context : contexts) {
      install(context);
    }
  }

  /// A context for one more chain, with the current parameters.
  EvalContext newContext() {
    EvalContext context = new EvalContext();
    contexts.add(context);
    install(context);
    return context;
  }

  private void install(EvalContext context) {
    parameters().install(row, context);
    context.functions = newFunctionContext();
  }

  /// A context for functions of the running statement; its heap is to be set.
  FunctionContext newFunctionContext() {
    StatementScope running = scope();
    return new FunctionContext(
        noHeap, running.statementTimestamp(), running.transactionTimestamp());
  }

  void end() {
    scope = null;
    parameters = null;
  }
}
