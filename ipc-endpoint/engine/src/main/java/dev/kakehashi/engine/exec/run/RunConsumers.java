package dev.kakehashi.engine.exec.run;

import dev.kakehashi.engine.api.ResultSink;
import dev.kakehashi.engine.exec.dml.ChangeConsumer;
import dev.kakehashi.engine.exec.dml.DmlConsumer;
import dev.kakehashi.engine.exec.dml.MergeConsumer;
import dev.kakehashi.engine.exec.dml.RowKeeper;
import dev.kakehashi.engine.exec.dml.StatementChanges;
import dev.kakehashi.engine.exec.operator.BatchConsumer;
import dev.kakehashi.engine.exec.operator.RunContext;
import dev.kakehashi.engine.exec.result.ResultWriter;
import dev.kakehashi.engine.exec.rows.RowBuffer;
import dev.kakehashi.engine.plan.PhysicalPlan;
import dev.kakehashi.engine.vector.VectorBatch;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// Consumers of the rows of one execution's last chains that live longer than a stage. They are consumers of changes, and the writer that
/// the results of several rows of parameters share. Used by the thread that owns the execution between stages, see [PlanRun].
final class RunConsumers {
  private final PlanInstances runner;
  private final RunContext run;
  private final StatementChanges changes;
  private @Nullable ChangeConsumer change;

  /// Consumers of the parts that have run for this row of parameters: they hold what the parts return.
  private final List<ChangeConsumer> parts = new ArrayList<>(0);

  /// Writer of a query with several rows of parameters: their results share buffers.
  private @Nullable ResultWriter rows;

  RunConsumers(PlanInstances runner, RunContext run, StatementChanges changes) {
    this.runner = runner;
    this.run = run;
    this.changes = changes;
  }

  /// The consumer of a part's stage.
  ChangeConsumer beginPart(PhysicalPlan.Part part, PlanInstance.Chain chain) {
    ChangeConsumer consumer = newConsumer(part.change(), chain);
    parts.add(consumer);
    consumer.begin();
    return consumer;
  }

  /// Rows that the part that has run last returns; null: nothing.
  @Nullable RowBuffer lastReturned() {
    return parts.getLast().returned();
  }

  /// The consumer of the statement's own change, one for all rows of parameters.
  ChangeConsumer beginChange(PlanInstance.Chain chain) {
    ChangeConsumer consumer = change;
    if (consumer == null) {
      consumer = newConsumer(runner.plan(), chain);
      change = consumer;
    }
    consumer.begin();
    return consumer;
  }

  private ChangeConsumer newConsumer(PhysicalPlan plan, PlanInstance.Chain chain) {
    return switch (plan) {
      case PhysicalPlan.UniformChange uniform ->
          new DmlConsumer(run, changes, uniform, chain.context());
      case PhysicalPlan.Merge merge -> new MergeConsumer(run, changes, merge, chain.context());
      case PhysicalPlan.Query query -> new RowKeeper(runner.resultOids(), run.memory());
      case PhysicalPlan.WithChanges with -> newConsumer(with.body(), chain);
    };
  }

  /// The consumer of the statement's own change; null: it has not begun.
  @Nullable ChangeConsumer change() {
    return change;
  }

  /// The writer for one of several rows of parameters.
  ///
  /// @param last whether there is no row after it
  BatchConsumer rows(ResultSink sink, boolean last) {
    ResultWriter writer = rows;
    if (writer == null) {
      writer = new ResultWriter(sink, runner.resultOids());
      rows = writer;
    }
    return last ? writer : new Unfinished(writer);
  }

  /// A writer whose last buffer more rows will go to.
  private record Unfinished(ResultWriter writer) implements BatchConsumer {
    @Override
    public boolean accept(VectorBatch batch) {
      return writer.accept(batch);
    }

    @Override
    public boolean finish() {
      return true;
    }

    @Override
    public void abandon() {
      writer.abandon();
    }

    @Override
    public void endBeforeFailure() {
      writer.finish();
    }

    @Override
    public long rows() {
      return 0;
    }
  }

  /// Gives the buffer back that rows have been written to and not staged, after a failure.
  void abandonRows() {
    if (rows != null) {
      rows.abandon();
    }
  }

  /// The parts' rows are needed no longer.
  void closeParts() {
    parts.forEach(ChangeConsumer::close);
    parts.clear();
  }

  /// Lets go of the changes; they may begin again.
  void close() {
    closeParts();
    if (change != null) {
      change.close();
      change = null;
    }
  }
}
