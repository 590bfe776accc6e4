package dev.kakehashi.engine.expr;

import dev.kakehashi.engine.type.FunctionContext;
import dev.kakehashi.engine.vector.VarHeap;

/// What evaluation needs besides the batch: parameter values and the functions' context.
///
/// One per chain of operators, confined to the task that runs the chain. Parameters are replaced between executions.
public final class EvalContext {
  /// Words of the parameters.
  public long[] parameters = new long[0];

  /// Whether parameter i is null.
  public boolean[] parameterNulls = new boolean[0];

  /// Grows by one with every change of the parameters, so that evaluators know when their copies are stale.
  public int parameterVersion;

  /// Its heap is set by the operator that evaluates.
  public FunctionContext functions = new FunctionContext(new VarHeap(), 0, 0);

  /// Installs the parameters of an execution.
  public void setParameters(long[] words, boolean[] nulls) {
    parameters = words;
    parameterNulls = nulls;
    parameterVersion++;
  }
}
