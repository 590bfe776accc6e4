package dev.kakehashi.engine.exec.run;

import dev.kakehashi.engine.api.ParameterBatch;
import dev.kakehashi.engine.api.ResultSink;
import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.engine.exec.operator.RunFailures;
import dev.kakehashi.engine.exec.operator.StatementScope;
import dev.kakehashi.engine.exec.rows.PlanProfile;
import dev.kakehashi.engine.plan.PhysicalPlan;
import dev.kakehashi.scheduler.Job;
import dev.kakehashi.scheduler.Task;
import dev.kakehashi.scheduler.TaskContext;
import dev.kakehashi.scheduler.TaskScheduler;
import java.util.function.BiConsumer;
import org.jspecify.annotations.Nullable;

/// EXPLAIN ANALYZE: executes a plan, measures it, and sends what was measured instead of its rows.
final class ProfileRunner implements PlanRunner {
  private final PhysicalPlan plan;
  private final int[] parameterOids;
  private final Report report;

  ProfileRunner(PhysicalPlan plan, int[] parameterOids, Report report) {
    this.plan = plan;
    this.parameterOids = parameterOids;
    this.report = report;
  }

  @Override
  public int workLevel(StatementScope scope) {
    return HEAVIEST;
  }

  @Override
  public Task execute(
      StatementScope scope,
      ParameterBatch parameters,
      ResultSink sink,
      BiConsumer<@Nullable Long, @Nullable EngineException> done) {
    return new Run(scope, parameters, sink, done);
  }

  /// The execution, as the first task of the statement's job. Its report goes out in a job of its own.
  private final class Run implements Task {
    private final StatementScope scope;
    private final ParameterBatch parameters;
    private final ResultSink sink;
    private final BiConsumer<@Nullable Long, @Nullable EngineException> done;

    Run(
        StatementScope scope,
        ParameterBatch parameters,
        ResultSink sink,
        BiConsumer<@Nullable Long, @Nullable EngineException> done) {
      this.scope = scope;
      this.parameters = parameters;
      this.sink = sink;
      this.done = done;
    }

    @Override
    public @Nullable Task run(TaskContext context) {
      PlanProfile profile = new PlanProfile(plan);
      TaskScheduler scheduler = context.scheduler();
      long began = System.nanoTime();
      return new PlanInstances(plan, parameterOids, profile)
          .execute(
              scope,
              parameters,
              sink,
              (rows, failure) -> {
                if (failure != null || rows == null) {
                  done.accept(null, failure);
                } else {
                  send(scheduler, profile, rows, System.nanoTime() - began);
                }
              });
    }

    private void send(TaskScheduler scheduler, PlanProfile profile, long rows, long nanos) {
      try {
        profile.functions(scope.applications().meters());
        PhysicalPlan text = new PhysicalPlan.Query(report.of(profile, rows, nanos));
        scheduler.submit(
            new PlanInstances(text, new int[0]).execute(scope, ParameterBatch.NONE, sink, done));
      } catch (Throwable failed) {
        done.accept(null, RunFailures.report(failed));
      }
    }

    @Override
    public void discarded(Job job) {
      done.accept(null, RunFailures.canceled());
    }
  }
}
