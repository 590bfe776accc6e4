package dev.kakehashi.tck.drive;

import dev.kakehashi.engine.api.EngineTransaction;
import dev.kakehashi.engine.api.ExecuteOptions;
import dev.kakehashi.engine.api.Execution;
import dev.kakehashi.engine.api.ParameterBatch;
import dev.kakehashi.engine.api.Statement;
import java.lang.ref.Reference;
import java.util.List;
import java.util.concurrent.CompletableFuture;

/// A statement that may not have ended yet.
public final class RunningStatement {
  private final CollectingSink sink;
  private final ParameterBatch parameters; // its memory has to live until the end
  private final CompletableFuture<Long> answer = new CompletableFuture<>();
  private final Execution execution;

  /// Starts it.
  RunningStatement(
      EngineTransaction transaction,
      Statement statement,
      ParameterBatch parameters,
      ExecuteOptions options,
      CollectingSink sink) {
    this.sink = sink;
    this.parameters = parameters;
    this.execution =
        statement.execute(
            transaction,
            parameters,
            options,
            sink,
            (count, failure) -> {
              sink.end();
              Waits.answer(answer, count, failure);
            });
  }

  /// Asks it to end.
  public void cancel() {
    execution.cancel();
  }

  /// Whether it has ended.
  public boolean isDone() {
    return answer.isDone();
  }

  /// Where its rows go.
  public CollectingSink sink() {
    return sink;
  }

  /// Its count, once it has ended.
  ///
  /// @throws dev.kakehashi.engine.api.error.EngineException it has failed
  public long await() {
    try {
      return Waits.await(answer);
    } finally {
      sink.assertUsedWell();
      Reference.reachabilityFence(parameters);
    }
  }

  /// Its rows, once it has ended.
  public List<String> awaitRows() {
    await();
    return sink.rows();
  }
}
