package dev.kakehashi.pgwire;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.kakehashi.engine.api.BeginOptions.Isolation;
import dev.kakehashi.engine.api.ExecuteOptions;
import dev.kakehashi.engine.api.ParameterBatch;
import dev.kakehashi.engine.api.ResultSink;
import dev.kakehashi.engine.api.Statement;
import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.pgwire.pool.PoolLimits;
import dev.kakehashi.tck.drive.DrivenEngine;
import dev.kakehashi.tck.drive.DrivenTransaction;
import dev.kakehashi.tck.drive.RowValues;
import java.io.IOException;
import java.lang.ref.Reference;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/// A thread that throws what nobody expects answers its client, and goes on with what waits behind.
class ThrownErrorTest {
  /// A reader whose buffers cannot be had.
  private record Throwing(Error thrown) implements ResultSink {
    @Override
    public @Nullable Buffer acquire(int minBytes) {
      throw thrown;
    }

    @Override
    public void whenWritable(Runnable wake) {
      wake.run();
    }

    @Override
    public int maxBatchBytes() {
      return 1 << 20;
    }
  }

  @Test
  void shouldAnswerWithAnError() throws IOException, InterruptedException {
    assumeTrue(PgWireServer.isAvailable(), "PostgreSQL is not installed");
    try (PgWireServer server = PgWireServer.start();
        PgWireEngine engine =
            server.open(new PoolLimits(5, Duration.ofSeconds(30)), new EngineLimits(10, 0, 0));
        DrivenEngine client = new DrivenEngine(engine, "test", "")) {
      assertEquals("54000 statement is nested too deeply", state(client, new StackOverflowError()));
      assertEquals("53200 out of memory", state(client, new OutOfMemoryError("of a test")));
      assertEquals(
          "XX000 internal error: java.lang.AssertionError: of a test",
          state(client, new AssertionError("of a test")));
      assertEquals(List.of("1"), client.query("select 1"));
    }
  }

  private static String state(DrivenEngine client, Error thrown) throws InterruptedException {
    Statement statement = client.prepare("select i from generate_series(1, 10) i");
    CompletableFuture<Long> answer = new CompletableFuture<>();
    ParameterBatch parameters =
        RowValues.batch(statement.parameterTypeOids(), new @Nullable Object[][] {{}});
    try (DrivenTransaction transaction = client.begin(Isolation.READ_COMMITTED)) {
      statement.execute(
          transaction.engine(),
          parameters,
          new ExecuteOptions(true, 0, 0, 0),
          new Throwing(thrown),
          (count, failure) -> {
            if (failure != null) {
              answer.completeExceptionally(failure);
            } else {
              answer.complete(count);
            }
          });
      ExecutionException failed =
          assertThrows(ExecutionException.class, () -> answer.get(60, TimeUnit.SECONDS));
      return failed.getCause() instanceof EngineException e
          ? e.sqlstate() + " " + e.getMessage()
          : failed.toString();
    } finally {
      Reference.reachabilityFence(parameters); // its memory has to live until the end
    }
  }

  @Test
  void shouldGoOnWithTheNextPiece() throws InterruptedException {
    List<Runnable> threads = new ArrayList<>();
    WireLane lane = new WireLane(threads::add);
    List<String> done = new ArrayList<>();
    lane.add(() -> {
      throw new StackOverflowError();
    });
    lane.add(() -> done.add("next"));
    threads.removeFirst().run();
    lane.add(() -> done.add("later"));
    threads.removeFirst().run();
    assertEquals(List.of("next", "later"), done);
  }
}
