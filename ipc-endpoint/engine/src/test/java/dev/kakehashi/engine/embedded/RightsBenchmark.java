package dev.kakehashi.engine.embedded;

import dev.kakehashi.engine.api.BeginOptions;
import dev.kakehashi.engine.api.EngineTransaction;
import dev.kakehashi.engine.api.ExecuteOptions;
import dev.kakehashi.engine.api.ParameterBatch;
import dev.kakehashi.engine.api.ResultSink;
import dev.kakehashi.engine.api.Statement;
import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.protocol.RowBatchLayout;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Comparator;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/// Cost of rights for a select by key. The same statement runs on an engine without roles, and as a user who has the table by a group among
/// many grants. Takes turns; arguments: rounds, executions of a round.
///
/// Prints the median time of each in ns, and the ratio.
final class RightsBenchmark {
  private static final ExecuteOptions OPTIONS = new ExecuteOptions(true, 0, 1, 0);

  private RightsBenchmark() {}

  /// One side of the comparison. Used by one thread.
  private static final class Side implements ResultSink, ResultSink.Buffer {
    private final TestEngine engine;
    private final Statement select;
    private final ParameterBatch parameters;
    private final MemorySegment memory = Arena.ofAuto().allocate(4096, 8);
    private volatile long ended;
    private volatile @Nullable EngineException failure;

    Side(TestEngine engine, boolean granted) {
      this.engine = engine;
      engine.run("create table t (id int8 primary key, amount int8, name text)");
      engine.run("insert into t select i, i * 3, 'name ' || i from generate_series(1, 1000) i");
      engine.run("analyze t");
      if (granted) {
        engine.run("create role alice login");
        for (int i = 0; i < 50; i++) {
          engine.run("create role g" + i);
          engine.run("grant select, insert on t to g" + i);
          engine.run("grant g" + i + " to alice");
        }
      }
      this.select = engine.other("alice").prepare("select amount, name from t where id = $1");
      this.parameters =
          TestEngine.parameters(select.parameterTypeOids(), new @Nullable Object[][] {{1}});
    }

    long nanos(int executions) {
      long began = System.nanoTime();
      for (int i = 0; i < executions; i++) {
        parameters
            .batch()
            .set(
                ValueLayout.JAVA_LONG,
                RowBatchLayout.HEADER_BYTES + RowBatchLayout.bitmapBytes(1),
                i % 1000 + 1L);
        EngineTransaction transaction = engine.engine.begin(BeginOptions.DEFAULT);
        long before = ended;
        select.execute(transaction, parameters, OPTIONS, this, (count, refused) -> ended(refused));
        await(before);
        before = ended;
        transaction.commit(EngineTransaction.CommitResponse.AVAILABLE, this::ended);
        await(before);
      }
      EngineException refused = failure;
      if (refused != null) {
        throw refused;
      }
      return (System.nanoTime() - began) / executions;
    }

    @SuppressWarnings("NonAtomicVolatileUpdate") // nothing begins before what was begun has ended
    private void ended(@Nullable EngineException refused) {
      if (refused != null) {
        failure = refused;
      }
      ended++;
    }

    private void await(long before) {
      while (ended == before) {
        Thread.onSpinWait();
      }
    }

    @Override
    public Buffer acquire(int minBytes) {
      return this;
    }

    @Override
    public void whenWritable(Runnable wake) {
      wake.run();
    }

    @Override
    public int maxBatchBytes() {
      return (int) memory.byteSize();
    }

    @Override
    public MemorySegment memory() {
      return memory;
    }

    @Override
    public void stage(int batchBytes, int rowCount) {}

    @Override
    public void discard() {}
  }

  public static void main(String[] arguments) throws Exception {
    int rounds = Integer.parseInt(arguments[0]);
    int executions = Integer.parseInt(arguments[1]);
    Path directory = Files.createTempDirectory("kakehashi-rights");
    try (TestEngine free = new TestEngine(directory.resolve("free"));
        TestEngine ruled = new TestEngine(directory.resolve("ruled"))) {
      Side without = new Side(free, false);
      Side with = new Side(ruled, true);
      long[] freeNanos = new long[rounds];
      long[] ruledNanos = new long[rounds];
      for (int warm = 0; warm < 5; warm++) {
        without.nanos(executions);
        with.nanos(executions);
      }
      for (int round = 0; round < rounds; round++) {
        freeNanos[round] = without.nanos(executions);
        ruledNanos[round] = with.nanos(executions);
      }
      long a = median(freeNanos);
      long b = median(ruledNanos);
      System.out.printf("without %d ns, with %d ns, ratio %.3f%n", a, b, (double) b / a);
    } finally {
      try (Stream<Path> files = Files.walk(directory)) {
        for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
          Files.delete(file);
        }
      }
    }
  }

  private static long median(long[] values) {
    long[] sorted = values.clone();
    Arrays.sort(sorted);
    return sorted[sorted.length / 2];
  }
}
