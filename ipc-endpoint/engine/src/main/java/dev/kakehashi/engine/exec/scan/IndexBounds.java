package dev.kakehashi.engine.exec.scan;

import dev.kakehashi.engine.expr.EvalContext;
import dev.kakehashi.engine.expr.Evaluator;
import dev.kakehashi.engine.expr.Evaluators;
import dev.kakehashi.engine.expr.ValueSet;
import dev.kakehashi.engine.plan.PlanNode;
import dev.kakehashi.engine.store.api.KeyRange;
import dev.kakehashi.engine.vector.ColumnVector;
import dev.kakehashi.engine.vector.VarHeap;
import dev.kakehashi.engine.vector.VectorBatch;
import org.jspecify.annotations.Nullable;

/// The ranges of an index scan, of which there are several if a column equals any of several values. Confined to the user of its context.
final class IndexBounds implements AutoCloseable {
  private final PlanNode.IndexScan node;
  private final EvalContext context;
  private final VectorBatch row = VectorBatch.oneRow();
  private final VarHeap heap = new VarHeap();
  private final Evaluator[] equals;

  /// Words of `equals`, for the range that is scanned.
  private final long[] values;

  /// Range of a scan without other bounds: made of `values`.
  private final @Nullable KeyRange equalRange;

  private final @Nullable ValueSet anyOf;
  private int nextValue;
  private final @Nullable Evaluator lower;
  private final @Nullable Evaluator upper;

  IndexBounds(PlanNode.IndexScan node, EvalContext context) {
    this.node = node;
    this.context = context;
    this.equals = Evaluators.of(node.equals(), context);
    this.anyOf = node.anyOf() == null ? null : ValueSet.of(node.anyOf().set(), context);
    this.lower = node.lower() == null ? null : Evaluators.of(node.lower().value(), context);
    this.upper = node.upper() == null ? null : Evaluators.of(node.upper().value(), context);
    this.values = new long[equals.length];
    this.equalRange = lower == null && upper == null ? KeyRange.equal(values) : null;
  }

  /// Begins with the first range. Ranges of before are not valid any more.
  void open() {
    nextValue = 0;
    heap.reset();
    context.functions.heap = heap;
    if (anyOf != null) {
      anyOf.read();
    }
  }

  /// Whether there are ranges that [#next] has not given.
  boolean hasNext() {
    return anyOf == null ? nextValue == 0 : nextValue < anyOf.size();
  }

  /// The next range, valid until this is opened again or closed; null when a bound is null: nothing is equal to or less than null.
  @Nullable KeyRange next() {
    int value = nextValue++;
    context.functions.heap = heap;
    for (int i = 0; i < values.length; i++) {
      if (anyOf != null && node.anyOf() != null && node.anyOf().position() == i) {
        values[i] = anyOf.word(value);
        continue;
      }
      ColumnVector computed = equals[i].evaluate(row);
      if (computed.isNull(0)) {
        return null;
      }
      values[i] = computed.words[0];
    }
    if (equalRange != null) {
      return equalRange;
    }
    ColumnVector low = lower == null ? null : lower.evaluate(row);
    ColumnVector high = upper == null ? null : upper.evaluate(row);
    if ((low != null && low.isNull(0)) || (high != null && high.isNull(0))) {
      return null;
    }
    return new KeyRange(
        values.length,
        values,
        low != null,
        low == null ? 0 : low.words[0],
        node.lower() != null && node.lower().inclusive(),
        high != null,
        high == null ? 0 : high.words[0],
        node.upper() != null && node.upper().inclusive());
  }

  @Override
  public void close() {
    heap.close();
  }
}
