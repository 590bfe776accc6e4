package dev.kakehashi.engine.embedded.plans;

import dev.kakehashi.engine.api.ParameterBatch;
import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.engine.exec.operator.ParameterTable;
import dev.kakehashi.engine.exec.operator.RunContext;
import dev.kakehashi.engine.exec.operator.StatementScope;
import dev.kakehashi.engine.exec.rows.MaterializedRows;
import dev.kakehashi.engine.expr.EvalContext;
import dev.kakehashi.engine.expr.Evaluator;
import dev.kakehashi.engine.expr.Evaluators;
import dev.kakehashi.engine.expr.Expr;
import dev.kakehashi.engine.expr.ExprRewriter;
import dev.kakehashi.engine.plan.PhysicalPlan;
import dev.kakehashi.engine.plan.PlanNode;
import dev.kakehashi.engine.sql.statement.Prepared;
import dev.kakehashi.engine.type.queue.ReceiveArguments;
import dev.kakehashi.engine.vector.ColumnVector;
import dev.kakehashi.engine.vector.VarHeap;
import dev.kakehashi.engine.vector.VectorBatch;
import dev.kakehashi.protocol.ErrorCode;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// The call of `receive` or `complete_and_receive` in a plan. Its arguments are evaluated before the statement begins, so they are
/// constants and parameters of the statement. Immutable.
public final class ReceiveCall {
  private final String function;
  private final List<Expr> arguments;
  private final int[] parameterOids;
  private final boolean plain;

  private ReceiveCall(PlanNode.FunctionScan scan, int[] parameterOids, boolean alone) {
    this.function = scan.function().name();
    this.arguments = scan.arguments();
    this.parameterOids = parameterOids;
    this.plain =
        alone
            && arguments.stream()
                .allMatch(each -> each instanceof Expr.Constant || each instanceof Expr.Parameter);
  }

  /// Whether the statement only receives: its arguments are constants and parameters as they are, and nothing else than its tasks makes it
  /// long.
  public boolean isPlain() {
    return plain;
  }

  /// Null: the statement has none.
  ///
  /// @throws EngineException FEATURE_NOT_SUPPORTED if it has several, or its arguments depend on rows
  static @Nullable ReceiveCall of(Prepared prepared) {
    if (!(prepared instanceof Prepared.Planned planned)) {
      return null;
    }
    List<PlanNode.FunctionScan> calls = new ArrayList<>(0);
    PhysicalPlan plan = planned.plan();
    boolean inner = find(plan.source(), false, calls);
    for (PhysicalPlan.Part part : plan.parts()) {
      inner |= find(part.change().source(), false, calls);
    }
    if (calls.isEmpty()) {
      return null;
    }
    PlanNode.FunctionScan call = calls.getFirst();
    if (calls.size() > 1) {
      throw refused("a statement that receives more than once");
    }
    if (inner || call.arguments().stream().anyMatch(ExprRewriter::hasColumns)) {
      throw refused(call.function().name() + " with arguments that depend on rows");
    }
    return new ReceiveCall(
        call, planned.parameterOids(), plan.parts().isEmpty() && isAlone(plan.source()));
  }

  private static boolean isAlone(PlanNode node) {
    return node instanceof PlanNode.FunctionScan
        || (node instanceof PlanNode.Project project && isAlone(project.input()));
  }

  private static EngineException refused(String what) {
    return new EngineException(ErrorCode.FEATURE_NOT_SUPPORTED, what + " is not supported");
  }

  /// @param inner whether the node is run for each row of another
  /// @return whether a call is in such a place
  private static boolean find(PlanNode node, boolean inner, List<PlanNode.FunctionScan> calls) {
    if (node instanceof PlanNode.FunctionScan scan
        && ReceiveArguments.isOf(scan.function().name())) {
      calls.add(scan);
      return inner;
    }
    if (node instanceof PlanNode.Correlate correlate) {
      boolean left = find(correlate.left(), inner, calls);
      boolean right = find(correlate.right(), true, calls);
      return left || right;
    }
    boolean found = false;
    for (PlanNode input : node.inputs()) {
      found |= find(input, inner || node instanceof PlanNode.Recursion, calls);
    }
    return found;
  }

  /// Arguments of the call.
  ///
  /// @throws EngineException as the evaluation of its arguments
  public ReceiveArguments arguments(StatementScope scope, ParameterBatch parameters) {
    RunContext run =
        new RunContext(new ParameterTable(MaterializedRows.kinds(parameterOids)), null);
    long[] words = new long[arguments.size()];
    boolean[] nulls = new boolean[words.length];
    try (VarHeap heap = new VarHeap()) {
      run.begin(scope, parameters);
      EvalContext context = run.newContext();
      run.setRow(0);
      if (plain) {
        take(context, words, nulls);
      } else {
        context.functions.heap = heap;
        evaluate(context, words, nulls);
      }
      return ReceiveArguments.of(function, words, nulls);
    } finally {
      run.end();
    }
  }

  private void take(EvalContext context, long[] words, boolean[] nulls) {
    for (int i = 0; i < words.length; i++) {
      if (arguments.get(i) instanceof Expr.Constant constant) {
        nulls[i] = constant.isNull();
        words[i] = constant.word();
      } else if (arguments.get(i) instanceof Expr.Parameter parameter) {
        nulls[i] = context.parameterNulls[parameter.index()];
        words[i] = context.parameters[parameter.index()];
      }
    }
  }

  private void evaluate(EvalContext context, long[] words, boolean[] nulls) {
    Evaluator[] evaluators = Evaluators.of(arguments, context);
    try (VectorBatch single = VectorBatch.oneRow()) {
      for (int i = 0; i < words.length; i++) {
        ColumnVector value = evaluators[i].evaluate(single);
        nulls[i] = value.isNull(0);
        words[i] = nulls[i] ? 0 : value.words[0];
      }
    }
  }
}
