package dev.kakehashi.engine.exec;

import dev.kakehashi.engine.api.EngineException;
import dev.kakehashi.engine.api.Parameters;
import dev.kakehashi.engine.api.ResultSink;
import dev.kakehashi.engine.plan.PhysicalPlan;
import dev.kakehashi.protocol.ErrorCode;
import dev.kakehashi.scheduler.Task;
import java.util.function.BiConsumer;
import org.jspecify.annotations.Nullable;

final class PlanRunner implements StatementRunner {
  PlanRunner(PhysicalPlan plan, int[] parameterOids) {}

  @Override
  public boolean isLight(StatementScope scope) {
    return false;
  }

  @Override
  public Task execute(
      StatementScope scope,
      Parameters parameters,
      ResultSink sink,
      BiConsumer<@Nullable Long, @Nullable EngineException> done) {
    throw new EngineException(ErrorCode.FEATURE_NOT_SUPPORTED, "execution is on its way");
  }
}
