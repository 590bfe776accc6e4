package dev.kakehashi.engine.exec.run;

import dev.kakehashi.engine.exec.operator.Breaker;
import dev.kakehashi.engine.exec.operator.Operator;
import dev.kakehashi.engine.exec.operator.RunContext;
import dev.kakehashi.engine.plan.PlanNode;
import dev.kakehashi.engine.vector.Interrupts;
import dev.kakehashi.engine.vector.VectorBatch;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// A part of a plan that runs many times within one task of the statement, each time with other parameters: stage after stage on that
/// task's thread.
final class SubPlan {
  private final RunContext run;
  private final PlanInstance instance;
  private @Nullable Operator top;
  private long expected = Long.MAX_VALUE;

  /// The instance has something to close, also when an execution has failed before its last stage.
  private boolean isOpen;

  SubPlan(PlanNode root, RunContext outer) {
    this.run = new RunContext(outer);
    this.instance = new PlanInstance(root, false, run);
  }

  RunContext context() {
    return run;
  }

  /// After how many rows of an execution those who ask for them are likely to have enough.
  void expectRows(long rows) {
    expected = rows;
  }

  /// Begins an execution: everything but the last stage runs now.
  void open(long[] words, boolean[] nulls) {
    close();
    run.setParameters(words, nulls);
    isOpen = true;
    instance.open();
    int last = instance.stages().size() - 1;
    for (int stage = 0; stage < last; stage++) {
      Breaker breaker = instance.stages().get(stage).breaker();
      if (breaker == null) {
        throw new IllegalStateException("only the last stage has no breaker");
      }
      Breaker.Collector collector = breaker.newCollector();
      Operator chain = instance.chain(stage, 0).top();
      chain.giveCompact(breaker.compactColumns());
      chain.open();
      VectorBatch batch = chain.next();
      while (batch != null) {
        collector.accept(batch);
        Interrupts.check();
        batch = chain.next();
      }
      collector.finish();
      chain.close();
      breaker.complete(List.of(collector));
    }
    Operator opened = instance.chain(last, 0).top();
    opened.expectRows(expected);
    opened.open();
    top = opened;
  }

  /// Next rows; null at the end.
  @Nullable VectorBatch next() {
    Operator opened = top;
    if (opened == null) {
      throw new IllegalStateException("the part is not open");
    }
    Interrupts.check();
    return opened.next();
  }

  /// Frees what the execution holds. Idempotent.
  void close() {
    if (isOpen) {
      isOpen = false;
      top = null;
      instance.close();
    }
  }
}
