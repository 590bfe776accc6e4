package dev.kakehashi.engine.exec.scan;

import dev.kakehashi.engine.exec.operator.Operator;
import dev.kakehashi.engine.expr.EvalContext;
import dev.kakehashi.engine.expr.Evaluator;
import dev.kakehashi.engine.expr.Evaluators;
import dev.kakehashi.engine.expr.Expr;
import dev.kakehashi.engine.plan.PlanNode;
import dev.kakehashi.engine.type.Varlena;
import dev.kakehashi.engine.type.number.FloatMath;
import dev.kakehashi.engine.type.time.Intervals;
import dev.kakehashi.engine.vector.ColumnVector;
import dev.kakehashi.engine.vector.VectorBatch;
import java.time.Duration;
import java.util.Iterator;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/// Rows that describe the catalogue and the server, made when the first one is asked for: the names that narrow them may be those of an
/// outer row.
public final class SystemScanOperator extends Operator {
  private final PlanNode.SystemScan node;
  private final EvalContext context;
  private final @Nullable Evaluator schema;
  private final @Nullable Evaluator name;
  private final VectorBatch single = VectorBatch.oneRow();
  private final VectorBatch batch;

  /// Null until the first row is asked for.
  private @Nullable Iterator<@Nullable Object[]> rows;

  public SystemScanOperator(PlanNode.SystemScan node, EvalContext context) {
    this.node = node;
    this.context = context;
    this.schema = evaluator(node.schema(), context);
    this.name = evaluator(node.name(), context);
    this.batch = new VectorBatch(node.typeOids().length);
  }

  private static @Nullable Evaluator evaluator(@Nullable Expr expression, EvalContext context) {
    return expression == null ? null : Evaluators.of(expression, context);
  }

  @Override
  public void open() {
    rows = null;
  }

  @Override
  public @Nullable VectorBatch next() {
    batch.reset();
    context.functions.heap = batch.heap;
    if (rows == null) {
      rows = made().iterator();
    }
    while (batch.hasRoom() && rows.hasNext()) {
      add(rows.next());
    }
    return batch.size == 0 ? null : batch;
  }

  private void add(@Nullable Object[] row) {
    for (int i = 0; i < batch.columns.length; i++) {
      Object value = row[node.columns()[i]];
      if (value == null) {
        batch.columns[i].setNull(batch.size);
      } else {
        batch.columns[i].words[batch.size] = word(value);
      }
    }
    batch.size++;
  }

  private long word(Object value) {
    return switch (value) {
      case Long number -> number;
      case Boolean bool -> bool ? 1 : 0;
      case Double number -> FloatMath.word(number);
      case Duration span -> Intervals.of(batch.heap, 0, 0, TimeUnit.MICROSECONDS.convert(span));
      default -> Varlena.of(batch.heap, value.toString());
    };
  }

  private List<@Nullable Object[]> made() {
    String schemaName = text(schema);
    String objectName = text(name);
    // Nothing is equal to null.
    boolean none = (schema != null && schemaName == null) || (name != null && objectName == null);
    return none ? List.of() : node.rows().of(context.functions.viewer, schemaName, objectName);
  }

  private @Nullable String text(@Nullable Evaluator evaluator) {
    if (evaluator == null) {
      return null;
    }
    ColumnVector value = evaluator.evaluate(single);
    return value.isNull(0) ? null : Varlena.string(value.words[0]);
  }

  @Override
  public void close() {
    rows = null;
    batch.close();
  }
}
