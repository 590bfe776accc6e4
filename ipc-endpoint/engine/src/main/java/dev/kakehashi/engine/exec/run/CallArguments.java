package dev.kakehashi.engine.exec.run;

import dev.kakehashi.engine.api.ParameterBatch;
import dev.kakehashi.engine.exec.operator.ParameterTable;
import dev.kakehashi.engine.exec.operator.RunContext;
import dev.kakehashi.engine.exec.operator.StatementScope;
import dev.kakehashi.engine.exec.rows.MaterializedRows;
import dev.kakehashi.engine.expr.EvalContext;
import dev.kakehashi.engine.expr.Evaluator;
import dev.kakehashi.engine.expr.Evaluators;
import dev.kakehashi.engine.expr.Expr;
import dev.kakehashi.engine.type.application.JavaValues;
import dev.kakehashi.engine.vector.ColumnVector;
import dev.kakehashi.engine.vector.Interrupts;
import dev.kakehashi.engine.vector.VarHeap;
import dev.kakehashi.engine.vector.VectorBatch;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// Arguments of a CALL as objects. Stateless.
public final class CallArguments {
  private CallArguments() {}

  /// Values of the arguments for each row of parameters.
  ///
  /// @param oids types of the arguments
  /// @param parameterOids types of the parameters
  public static Deque<@Nullable Object[]> of(
      List<Expr> arguments,
      int[] oids,
      int[] parameterOids,
      StatementScope scope,
      ParameterBatch parameters) {
    ParameterTable table = new ParameterTable(MaterializedRows.kinds(parameterOids));
    RunContext run = new RunContext(table, null);
    Deque<@Nullable Object[]> all = new ArrayDeque<>(2);
    try {
      run.begin(scope, parameters);
      EvalContext context = run.newContext();
      if (arePlain(arguments)) {
        for (int row = 0; row < table.executions(); row++) {
          Interrupts.check();
          run.setRow(row);
          all.add(plainValues(arguments, oids, context));
        }
      } else {
        evaluate(arguments, oids, run, context, table.executions(), all);
      }
    } finally {
      run.end();
    }
    return all;
  }

  /// Whether arguments are parameters and constants, which take no time.
  public static boolean arePlain(List<Expr> arguments) {
    for (Expr each : arguments) {
      if (!(each instanceof Expr.Parameter) && !(each instanceof Expr.Constant)) {
        return false;
      }
    }
    return true;
  }

  private static @Nullable Object[] plainValues(
      List<Expr> arguments, int[] oids, EvalContext context) {
    @Nullable Object[] values = new @Nullable Object[oids.length];
    for (int i = 0; i < values.length; i++) {
      boolean isNull;
      long word;
      if (arguments.get(i) instanceof Expr.Constant constant) {
        isNull = constant.isNull();
        word = constant.word();
      } else {
        int parameter = ((Expr.Parameter) arguments.get(i)).index();
        isNull = context.parameterNulls[parameter];
        word = context.parameters[parameter];
      }
      values[i] = isNull ? null : JavaValues.toObject(oids[i], word);
    }
    return values;
  }

  private static void evaluate(
      List<Expr> arguments,
      int[] oids,
      RunContext run,
      EvalContext context,
      int rows,
      Deque<@Nullable Object[]> all) {
    VectorBatch single = VectorBatch.oneRow();
    try (VarHeap heap = new VarHeap()) {
      Evaluator[] evaluators = null;
      for (int row = 0; row < rows; row++) {
        Interrupts.check();
        heap.reset();
        run.setRow(row);
        context.functions.heap = heap;
        if (evaluators == null) {
          evaluators = Evaluators.of(arguments, context);
        }
        @Nullable Object[] values = new @Nullable Object[oids.length];
        for (int i = 0; i < values.length; i++) {
          ColumnVector value = evaluators[i].evaluate(single);
          values[i] = value.isNull(0) ? null : JavaValues.toObject(oids[i], value.words[0]);
        }
        all.add(values);
      }
    } finally {
      single.close();
    }
  }
}
