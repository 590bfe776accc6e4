package dev.kakehashi.sharedmemory;

import dev.kakehashi.engine.api.EngineTransaction;
import dev.kakehashi.engine.api.ExecuteOptions;
import dev.kakehashi.engine.api.Execution;
import dev.kakehashi.engine.api.ParameterBatch;
import dev.kakehashi.engine.api.ResultSink;
import dev.kakehashi.engine.api.Statement;
import dev.kakehashi.engine.api.error.EngineException;
import java.util.List;
import java.util.function.BiConsumer;
import org.jspecify.annotations.Nullable;

/// A statement that has columns and is never run.
record NamedStatement(String sql, List<Statement.Column> columns) implements Statement {
  @Override
  public Kind kind() {
    return Kind.QUERY;
  }

  @Override
  public int[] parameterTypeOids() {
    return new int[0];
  }

  @Override
  public Execution execute(
      EngineTransaction transaction,
      ParameterBatch parameters,
      ExecuteOptions options,
      ResultSink sink,
      BiConsumer<@Nullable Long, @Nullable EngineException> done) {
    throw new AssertionError("it is not run");
  }
}
