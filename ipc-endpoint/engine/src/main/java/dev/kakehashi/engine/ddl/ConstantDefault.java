package dev.kakehashi.engine.ddl;

import dev.kakehashi.engine.expr.EvalContext;
import dev.kakehashi.engine.expr.Evaluators;
import dev.kakehashi.engine.expr.Expr;
import dev.kakehashi.engine.expr.ExprRewriter;
import dev.kakehashi.engine.store.api.Placement;
import dev.kakehashi.engine.store.index.ValueCodec;
import dev.kakehashi.engine.txn.StatementExecution;
import dev.kakehashi.engine.type.FunctionContext;
import dev.kakehashi.engine.type.Types;
import dev.kakehashi.engine.vector.ColumnVector;
import dev.kakehashi.engine.vector.VarHeap;
import dev.kakehashi.engine.vector.VectorBatch;
import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;

/// Value of an added column for the rows present, when it is the same for all of them. Says also whether the rows may stay where they are.
final class ConstantDefault {
  /// As many columns as PostgreSQL's rows have at most, dropped ones included. Copying gets rid of those.
  private static final int MAX_STORED_COLUMNS = 1600;

  private final StatementExecution execution;

  ConstantDefault(StatementExecution execution) {
    this.execution = execution;
  }

  static boolean isVolatile(Expr expr) {
    return !ExprRewriter.isRepeatable(expr);
  }

  /// The value of an expression without columns that is not volatile, as the store keeps it; null if it is null.
  @Nullable ByteBuffer constant(Expr expr) {
    EvalContext context = new EvalContext();
    try (VarHeap heap = new VarHeap();
        VectorBatch row = new VectorBatch(0)) {
      row.size = 1;
      context.functions =
          new FunctionContext(
              heap, execution.statementTimestamp(), execution.transactionTimestamp(), execution);
      ColumnVector value = Evaluators.of(expr, context).evaluate(row);
      return value.isNull(0) ? null : ValueCodec.value(Types.kind(expr.typeOid()), value.words[0]);
    }
  }

  /// Whether a table can get other columns as it is. One without pages is made anew: then its rows lie side by side.
  boolean mayReshape(long tableId, int added) {
    if (!execution.store().hasTable(tableId)) {
      return false;
    }
    Placement placement = execution.store().table(tableId).definition().placement();
    return placement.widthWritten()
        && execution.store().table(tableId).pageCount() > 0
        && placement.stored().size() + added <= MAX_STORED_COLUMNS;
  }
}
