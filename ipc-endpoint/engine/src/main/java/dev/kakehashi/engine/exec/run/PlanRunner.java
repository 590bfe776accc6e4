package dev.kakehashi.engine.exec.run;

import dev.kakehashi.engine.api.ParameterBatch;
import dev.kakehashi.engine.api.ResultSink;
import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.engine.exec.operator.StatementScope;
import dev.kakehashi.engine.exec.rows.PlanProfile;
import dev.kakehashi.engine.plan.PhysicalPlan;
import dev.kakehashi.engine.plan.PlanNode;
import dev.kakehashi.scheduler.Task;
import java.util.function.BiConsumer;
import org.jspecify.annotations.Nullable;

/// Runs one prepared plan, any number of times, also concurrently. One per cached plan.
public interface PlanRunner {
  /// The work level of what nobody can tell.
  int HEAVIEST = 60;

  /// How long one execution is expected to take: 0 for microseconds (it may run on the thread that received the request), one more for
  /// each doubling of the pages that it scans, [#HEAVIEST] for unknown.
  int workLevel(StatementScope scope);

  /// The bootstrap task of one execution's job.
  ///
  /// @param parameters checked row batch with the plan's parameter types
  /// @param done gets the number of rows changed or sent, or the failure, exactly once; its own changes are undone then
  Task execute(
      StatementScope scope,
      ParameterBatch parameters,
      ResultSink sink,
      BiConsumer<@Nullable Long, @Nullable EngineException> done);

  /// Makes rows of what an execution did.
  interface Report {
    /// @param rows changed, or that would have been sent
    /// @param nanos that the execution took
    PlanNode of(PlanProfile profile, long rows, long nanos);
  }

  /// Prepares a plan for executions that are measured; what is sent are the rows of the report.
  ///
  /// @param parameterOids types of the parameters
  static PlanRunner measured(PhysicalPlan plan, int[] parameterOids, Report report) {
    return new ProfileRunner(plan, parameterOids, report);
  }

  /// Prepares a plan for execution.
  ///
  /// @param parameterOids types of the parameters
  static PlanRunner of(PhysicalPlan plan, int[] parameterOids) {
    return of(plan, parameterOids, 0);
  }

  /// Prepares a plan for executions that do not take all workers.
  ///
  /// @param mostTasks at a time; 0: as many as there are workers
  static PlanRunner of(PhysicalPlan plan, int[] parameterOids, int mostTasks) {
    return new PlanInstances(plan, parameterOids, null, mostTasks);
  }
}
