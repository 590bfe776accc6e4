package dev.kakehashi.engine.expr;

import dev.kakehashi.engine.vector.ColumnVector;
import dev.kakehashi.engine.vector.VectorBatch;
import java.util.Arrays;
import java.util.List;

/// Makes evaluators of expressions.
public final class Evaluators {
  private Evaluators() {}

  /// An evaluator with fresh buffers.
  public static Evaluator of(Expr expr, EvalContext context) {
    return switch (expr) {
      case Expr.Column column -> new ColumnEvaluator(column.index());
      case Expr.Constant constant -> new ConstantEvaluator(constant);
      case Expr.Parameter parameter -> new ParameterEvaluator(parameter.index(), context);
      case Expr.Call call -> CallEvaluators.of(call, context);
      case Expr.And and -> new LogicEvaluators.Junction(of(and.terms(), context), true);
      case Expr.Or or -> new LogicEvaluators.Junction(of(or.terms(), context), false);
      case Expr.Not not -> new LogicEvaluators.Not(of(not.argument(), context));
      case Expr.IsNull isNull -> new LogicEvaluators.IsNull(of(isNull.argument(), context));
      case Expr.IsBoolean is ->
          new LogicEvaluators.IsBoolean(of(is.argument(), context), is.value());
      case Expr.IsDistinct is ->
          new LogicEvaluators.IsDistinct(
              is.left().typeOid(), of(is.left(), context), of(is.right(), context));
      case Expr.InList in ->
          new LogicEvaluators.InList(
              in.argument().typeOid(), of(in.argument(), context), of(in.list(), context));
      case Expr.InArray in ->
          new LogicEvaluators.InArray(
              of(in.argument(), context),
              ValueSet.of(in, context),
              ExprRewriter.hasColumns(in.array()),
              context);
      case Expr.Case c ->
          new ChoiceEvaluators.Case(
              of(c.conditions(), context), of(c.values(), context), of(c.otherwise(), context));
      case Expr.Coalesce c -> new ChoiceEvaluators.Coalesce(of(c.arguments(), context));
      case Expr.Extreme e ->
          new ChoiceEvaluators.Extreme(e.typeOid(), e.greatest(), of(e.arguments(), context));
    };
  }

  /// One evaluator per expression.
  public static Evaluator[] of(List<Expr> expressions, EvalContext context) {
    Evaluator[] evaluators = new Evaluator[expressions.size()];
    for (int i = 0; i < evaluators.length; i++) {
      evaluators[i] = of(expressions.get(i), context);
    }
    return evaluators;
  }

  /// An evaluator with fresh buffers whose numerics may be compact words.
  public static Evaluator compact(Expr expr, EvalContext context) {
    return NumericKernels.argument(expr, context);
  }

  /// An evaluator of a constant whose word may be compact.
  static Evaluator constant(Expr.Constant constant) {
    return new ConstantEvaluator(constant);
  }

  private static final class ColumnEvaluator extends Evaluator {
    private final int index;

    ColumnEvaluator(int index) {
      this.index = index;
    }

    @Override
    public ColumnVector evaluate(VectorBatch batch) {
      return batch.columns[index];
    }
  }

  /// The same value in every row; the vector is filled as far as batches need it.
  private abstract static class SameValue extends Evaluator {
    private final ColumnVector vector = new ColumnVector(VectorBatch.CAPACITY);
    private int filled;

    final ColumnVector fill(boolean isNull, long word, int size) {
      if (filled < size) {
        if (isNull) {
          for (int row = filled; row < size; row++) {
            vector.setNull(row);
          }
        } else {
          Arrays.fill(vector.words, filled, size, word);
        }
        filled = size;
      }
      return vector;
    }

    final void forget() {
      vector.clearNulls();
      filled = 0;
    }
  }

  /// Keeps the expression, which keeps the memory of its value: those of a system table's rows have no other owner.
  private static final class ConstantEvaluator extends SameValue {
    private final Expr.Constant constant;

    ConstantEvaluator(Expr.Constant constant) {
      this.constant = constant;
    }

    @Override
    public ColumnVector evaluate(VectorBatch batch) {
      return fill(constant.isNull(), constant.word(), batch.size);
    }
  }

  private static final class ParameterEvaluator extends SameValue {
    private final int index;
    private final EvalContext context;
    private int version = -1;

    ParameterEvaluator(int index, EvalContext context) {
      this.index = index;
      this.context = context;
    }

    @Override
    public ColumnVector evaluate(VectorBatch batch) {
      if (version != context.parameterVersion) {
        version = context.parameterVersion;
        forget();
      }
      return fill(context.parameterNulls[index], context.parameters[index], batch.size);
    }
  }
}
