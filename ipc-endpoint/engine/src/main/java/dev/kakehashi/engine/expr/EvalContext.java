package dev.kakehashi.engine.expr;

import dev.kakehashi.engine.type.FunctionContext;
import dev.kakehashi.engine.vector.VarHeap;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.function.Function;

/// Context of an evaluation, besides the batch: parameter values and the functions' context.
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

  /// Evaluators by the part of the plan that they are of.
  private final IdentityHashMap<Object, Evaluator[]> kept = new IdentityHashMap<>(2);

  /// Evaluators for a part of the plan that is wanted anew by each execution, made once: each has a vector of its own, 8 KB, which is no
  /// matter for a scan but is for the change of a row. Their values are valid until those of the same part are evaluated again.
  ///
  /// @param part belongs to the plan
  /// @param expression of an element
  public <T> Evaluator[] evaluators(List<T> part, Function<T, Expr> expression) {
    return evaluators(part, part, expression);
  }

  /// Evaluators of expressions.
  ///
  /// @param part belongs to the plan
  public Evaluator[] evaluators(List<Expr> part) {
    return evaluators(part, part, Function.identity());
  }

  /// The same for another user of the elements, whose values are its own.
  ///
  /// @param user belongs to the plan
  public <T> Evaluator[] evaluators(Object user, List<T> part, Function<T, Expr> expression) {
    Evaluator[] present = kept.get(user);
    if (present == null) {
      present = Evaluators.of(part.stream().map(expression).toList(), this);
      kept.put(user, present);
    }
    return present;
  }

  /// The evaluator of one expression.
  ///
  /// @param part belongs to the plan
  public Evaluator evaluator(Expr part) {
    return evaluators(part, List.of(part), Function.identity())[0];
  }

  /// Installs the parameters of an execution.
  public void setParameters(long[] words, boolean[] nulls) {
    parameters = words;
    parameterNulls = nulls;
    parameterVersion++;
  }
}
