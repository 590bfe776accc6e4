package dev.kakehashi.engine.embedded;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.sun.management.ThreadMXBean;
import dev.kakehashi.engine.api.BeginOptions;
import dev.kakehashi.engine.api.EngineTransaction;
import dev.kakehashi.engine.api.ExecuteOptions;
import dev.kakehashi.engine.api.ParameterBatch;
import dev.kakehashi.engine.api.ResultSink;
import dev.kakehashi.engine.api.Statement;
import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.protocol.RowBatchLayout;
import dev.kakehashi.protocol.TypeOid;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.management.ManagementFactory;
import java.nio.file.Path;
import java.util.function.BiConsumer;
import java.util.function.Consumer;
import java.util.function.LongConsumer;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// Allocation in the engine by a select by key with a cached plan, on all threads of the process.
@SuppressWarnings("NullAway.Init") // set before each test
class PointSelectAllocationTest {
  private static final int ROWS = 1000;
  private static final int OTHER_TABLES = 64;
  private static final int EXECUTIONS = 20_000;

  /// The compiler that removes allocations comes late, the later the busier the machine is, and something else of this process may run
  /// beside one of the rounds: the least of them counts, and there are no more of them than it takes.
  private static final int MOST_ROUNDS = 60;

  /// Limit for one execution.
  private static final long MOST_BYTES = 1024;

  private static final ThreadMXBean THREADS = (ThreadMXBean) ManagementFactory.getThreadMXBean();
  private static final ExecuteOptions OPTIONS = new ExecuteOptions(true, 0, 1, 0);

  @TempDir private Path directory;
  private TestEngine engine;
  private Statement select;
  private ParameterBatch parameters;
  private final OneBuffer sink = new OneBuffer();

  /// Made once: what the test allocates counts too.
  @SuppressWarnings("UnnecessaryLambda") // written where it is used, it would be made each time
  private final BiConsumer<@Nullable Long, @Nullable EngineException> whenAnswered =
      (count, refused) -> ended(refused);

  @SuppressWarnings("UnnecessaryLambda") // made once, as the one above
  private final Consumer<@Nullable EngineException> whenCommitted = this::ended;

  /// Written by the thread that ends an execution, or a commit: this one, once the plan is at hand.
  private volatile long ended;

  private volatile @Nullable EngineException failure;

  @BeforeEach
  void open() {
    engine = new TestEngine(directory);
    // Up to 127 the JDK keeps the numbers of objects as objects.
    for (int i = 0; i < OTHER_TABLES; i++) {
      engine.run("create table other_" + i + " (id int8 primary key)");
    }
    engine.run("create table t (id int8 primary key, amount int8, name text)");
    engine.run(
        "insert into t select i, i * 3, 'name ' || i from generate_series(1, " + ROWS + ") i");
    // Statistics that come later would have the plan made again.
    engine.run("analyze t");
    select = engine.prepare("select amount, name from t where id = $1", TypeOid.INT8);
    parameters = TestEngine.parameters(select.parameterTypeOids(), new @Nullable Object[][] {{1}});
  }

  @AfterEach
  void close() {
    engine.close();
  }

  @Test
  void shouldAllocateLessThanAKilobyteForEachSelectOfATransaction() {
    EngineTransaction transaction = engine.engine.begin(BeginOptions.DEFAULT);
    assertLeast("in a transaction", MOST_BYTES, key -> execute(transaction, key));
    engine.rollback(transaction);
  }

  @Test
  void shouldAllocateLessThanAKilobyteForEachSelectWithATransactionOfItsOwn() {
    assertLeast(
        "with a transaction",
        MOST_BYTES,
        key -> {
          EngineTransaction transaction = engine.engine.begin(BeginOptions.DEFAULT);
          execute(transaction, key);
          long before = ended;
          transaction.commit(EngineTransaction.CommitResponse.AVAILABLE, whenCommitted);
          awaitEnd(before);
        });
  }

  private void assertLeast(String what, long most, LongConsumer execution) {
    long least = Long.MAX_VALUE;
    for (int round = 0; round < MOST_ROUNDS && least >= most; round++) {
      long rowsBefore = sink.rows;
      long before = THREADS.getTotalThreadAllocatedBytes();
      for (int i = 0; i < EXECUTIONS; i++) {
        execution.accept(i % ROWS + 1);
      }
      long bytes = (THREADS.getTotalThreadAllocatedBytes() - before) / EXECUTIONS;
      least = Math.min(least, bytes);
      assertNull(failure);
      assertEquals(EXECUTIONS, sink.rows - rowsBefore);
    }
    assertTrue(least < most, "a point select " + what + " allocates " + least + " bytes");
  }

  private void execute(EngineTransaction transaction, long key) {
    parameters
        .batch()
        .set(
            ValueLayout.JAVA_LONG,
            RowBatchLayout.HEADER_BYTES + RowBatchLayout.bitmapBytes(1),
            key);
    long before = ended;
    select.execute(transaction, parameters, OPTIONS, sink, whenAnswered);
    awaitEnd(before);
  }

  @SuppressWarnings("NonAtomicVolatileUpdate") // nothing begins before what was begun has ended
  private void ended(@Nullable EngineException refused) {
    if (refused != null) {
      failure = refused;
    }
    ended++;
  }

  /// Almost always at once. A future would have to be allocated.
  private void awaitEnd(long before) {
    while (ended == before) {
      Thread.onSpinWait();
    }
  }

  /// A reader that has read every batch when it is staged, and allocates nothing.
  private static final class OneBuffer implements ResultSink, ResultSink.Buffer {
    private final MemorySegment memory = Arena.ofAuto().allocate(4096, 8);

    /// Written before the execution ends.
    long rows;

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
    public void stage(int batchBytes, int rowCount) {
      rows += rowCount;
    }

    @Override
    public void discard() {}
  }
}
