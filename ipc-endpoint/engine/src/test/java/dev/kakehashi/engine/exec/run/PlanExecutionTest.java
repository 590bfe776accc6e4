package dev.kakehashi.engine.exec.run;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.kakehashi.engine.api.ParameterBatch;
import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.engine.exec.rows.TestScope;
import dev.kakehashi.engine.expr.Expr;
import dev.kakehashi.engine.plan.PhysicalPlan;
import dev.kakehashi.engine.plan.PlanNode;
import dev.kakehashi.engine.plan.PlanNode.AggregateCall;
import dev.kakehashi.engine.plan.PlanNode.JoinKind;
import dev.kakehashi.engine.plan.PlanNode.SortKey;
import dev.kakehashi.engine.store.CatalogTool;
import dev.kakehashi.engine.store.StoreFactory;
import dev.kakehashi.engine.store.api.ColumnKind;
import dev.kakehashi.engine.store.api.Store;
import dev.kakehashi.engine.store.api.StoreConfig;
import dev.kakehashi.engine.store.api.StoreTransaction;
import dev.kakehashi.engine.store.api.TableDefinition;
import dev.kakehashi.engine.store.api.TableDefinition.IndexDefinition;
import dev.kakehashi.engine.type.ScalarFunction;
import dev.kakehashi.engine.type.registry.Functions;
import dev.kakehashi.engine.vector.VectorBatch;
import dev.kakehashi.protocol.ErrorCode;
import dev.kakehashi.protocol.RowBatchReader;
import dev.kakehashi.protocol.TypeOid;
import dev.kakehashi.scheduler.Job;
import dev.kakehashi.scheduler.SchedulerConfig;
import dev.kakehashi.scheduler.TaskScheduler;
import dev.kakehashi.testsupport.Await;
import dev.kakehashi.testsupport.BatchSink;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/// Plans run on the real store and scheduler, compared with plain loops.
class PlanExecutionTest {
  private static final int[] INT8S = {TypeOid.INT8, TypeOid.INT8};
  private static final int[] BOTH = {0, 1};

  @TempDir Path directory;
  private Store store;
  private TaskScheduler scheduler;

  @BeforeEach
  void open() {
    store = StoreFactory.open(StoreConfig.of(directory));
    scheduler = TaskScheduler.start(SchedulerConfig.builder().workers(2).build());
  }

  @AfterEach
  void close() {
    scheduler.close();
    store.close();
  }

  private record Outcome(@Nullable Long count, @Nullable EngineException error) {}

  /// A table of two bigint columns with a primary key on the first.
  private long table(List<long[]> rows) throws Exception {
    long id = store.nextObjectId();
    IndexDefinition key =
        new IndexDefinition(store.nextObjectId(), "t_pkey", List.of(0), List.of(false), true);
    CatalogTool.createTable(
        store,
        new TableDefinition(
            id,
            List.of(ColumnKind.INTEGER, ColumnKind.INTEGER),
            List.of(true, false),
            List.of(key)));
    StoreTransaction transaction = store.begin(false, false);
    transaction.beginStatement();
    try (VectorBatch batch = new VectorBatch(2)) {
      for (long[] row : rows) {
        batch.reset();
        batch.size = 1;
        batch.columns[0].words[0] = row[0];
        if (row[1] == Long.MIN_VALUE) {
          batch.columns[1].setNull(0);
        } else {
          batch.columns[1].words[0] = row[1];
        }
        store.table(id).insert(transaction, batch, 0);
      }
    }
    CompletableFuture<@Nullable Throwable> committed = new CompletableFuture<>();
    transaction.commit(false, committed::complete);
    assertNull(committed.get(60, TimeUnit.SECONDS));
    return id;
  }

  private TestScope scope() {
    return new TestScope(store, scheduler, store.begin(false, false));
  }

  private CompletableFuture<Outcome> start(PhysicalPlan plan, TestScope scope, BatchSink sink) {
    CompletableFuture<Outcome> outcome = new CompletableFuture<>();
    PlanRunner runner = PlanRunner.of(plan, new int[0]);
    Job _ =
        scheduler.submit(
            runner.execute(
                scope,
                ParameterBatch.NONE,
                sink,
                (count, error) -> outcome.complete(new Outcome(count, error))));
    return outcome;
  }

  private List<List<@Nullable Long>> query(PlanNode root) throws Exception {
    TestScope scope = scope();
    BatchSink sink = new BatchSink(1000, 64 << 10);
    Outcome outcome = start(new PhysicalPlan.Query(root), scope, sink).get(60, TimeUnit.SECONDS);
    assertNull(outcome.error());
    scope.transaction.abort();
    return drained(sink);
  }

  /// Takes the staged batches one by one.
  private static List<List<@Nullable Long>> drained(BatchSink sink) {
    List<List<@Nullable Long>> rows = new ArrayList<>();
    for (RowBatchReader batch = sink.take(); batch != null; batch = sink.take()) {
      for (int r = 0; r < batch.rowCount(); r++) {
        List<@Nullable Long> row = new ArrayList<>();
        for (int c = 0; c < batch.columnCount(); c++) {
          row.add(batch.isNull(r, c) ? null : batch.getWord(r, c));
        }
        rows.add(row);
      }
    }
    return rows;
  }

  private static ScalarFunction function(String name) {
    ScalarFunction found = Functions.resolve(name, INT8S);
    if (found == null) {
      throw new AssertionError(name);
    }
    return found;
  }

  private static Expr.Column column(int index) {
    return new Expr.Column(index, TypeOid.INT8);
  }

  private static List<long[]> randomRows(Random random, int count, int range, int nulls) {
    List<long[]> rows = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      rows.add(
          new long[] {i, random.nextInt(100) < nulls ? Long.MIN_VALUE : random.nextInt(range)});
    }
    return rows;
  }

  @Test
  void shouldGroupInParallelAsALoopWould() throws Exception {
    List<long[]> rows = new ArrayList<>();
    long[] sums = new long[10];
    for (int i = 0; i < 300_000; i++) {
      rows.add(new long[] {i, i % 10});
      sums[i % 10] += i;
    }
    long id = table(rows);
    assertTrue(store.table(id).pageCount() > 32, "enough pages for several tasks");
    PlanNode plan =
        new PlanNode.Aggregate(
            new PlanNode.TableScan(id, BOTH, INT8S, null),
            new int[] {1},
            List.of(
                new AggregateCall("count", new int[0], new int[0], false, -1, TypeOid.INT8),
                new AggregateCall(
                    "max", new int[] {0}, new int[] {TypeOid.INT8}, false, -1, TypeOid.INT8)),
            new int[] {TypeOid.INT8, TypeOid.INT8, TypeOid.INT8});
    List<List<@Nullable Long>> result = query(plan);
    assertEquals(10, result.size());
    result.sort(Comparator.comparing(r -> r.get(0)));
    for (int g = 0; g < 10; g++) {
      assertEquals(List.of((long) g, 30_000L, 299_990L + g), result.get(g));
    }
  }

  @ParameterizedTest
  @EnumSource(JoinKind.class)
  void shouldJoinLikeNestedLoops(JoinKind kind) throws Exception {
    Random random = new Random(7);
    List<long[]> left = randomRows(random, 3000, 500, 10);
    List<long[]> right = randomRows(random, 700, 600, 10);
    PlanNode scanLeft = new PlanNode.TableScan(table(left), BOTH, INT8S, null);
    PlanNode scanRight = new PlanNode.TableScan(table(right), BOTH, INT8S, null);
    Expr condition = new Expr.Call(function("<"), List.of(column(2), column(0)));
    PlanNode hash =
        new PlanNode.HashJoin(scanLeft, scanRight, kind, new int[] {1}, new int[] {1}, condition);
    Expr equal = new Expr.Call(function("="), List.of(column(1), column(3)));
    PlanNode loop =
        new PlanNode.NestedLoopJoin(
            scanLeft, scanRight, kind, new Expr.And(List.of(equal, condition)));
    List<String> expected = naiveJoin(left, right, kind);
    assertEquals(expected, sorted(query(hash)));
    assertEquals(expected, sorted(query(loop)));
  }

  private static List<String> sorted(List<List<@Nullable Long>> rows) {
    return rows.stream().map(String::valueOf).sorted().toList();
  }

  private static List<String> naiveJoin(List<long[]> left, List<long[]> right, JoinKind kind) {
    List<String> out = new ArrayList<>();
    boolean[] rightMatched = new boolean[right.size()];
    for (long[] l : left) {
      boolean matched = false;
      for (int j = 0; j < right.size(); j++) {
        long[] r = right.get(j);
        if (l[1] != Long.MIN_VALUE && l[1] == r[1] && r[0] < l[0]) {
          matched = true;
          rightMatched[j] = true;
          if (kind != JoinKind.SEMI && kind != JoinKind.ANTI) {
            out.add(text(l, r));
          }
        }
      }
      if (kind == JoinKind.SEMI ? matched : kind == JoinKind.ANTI && !matched) {
        out.add(text(l));
      } else if (!matched && (kind == JoinKind.LEFT || kind == JoinKind.FULL)) {
        out.add(text(l, new long[] {Long.MIN_VALUE, Long.MIN_VALUE}));
      }
    }
    for (int j = 0; j < right.size(); j++) {
      if (!rightMatched[j] && (kind == JoinKind.RIGHT || kind == JoinKind.FULL)) {
        out.add(text(new long[] {Long.MIN_VALUE, Long.MIN_VALUE}, right.get(j)));
      }
    }
    out.sort(Comparator.naturalOrder());
    return out;
  }

  private static String text(long[]... parts) {
    List<@Nullable Long> row = new ArrayList<>();
    for (long[] part : parts) {
      for (long value : part) {
        row.add(value == Long.MIN_VALUE ? null : value);
      }
    }
    return row.toString();
  }

  @Test
  void shouldSortWithNullsAndLimit() throws Exception {
    List<long[]> rows = randomRows(new Random(11), 20_000, 5_000, 5);
    PlanNode scan = new PlanNode.TableScan(table(rows), BOTH, INT8S, null);
    List<SortKey> keys = List.of(new SortKey(1, true, true), new SortKey(0, false, false));
    Expr limit = Expr.Constant.of(TypeOid.INT8, 1500);
    Expr offset = Expr.Constant.of(TypeOid.INT8, 400);
    Comparator<long[]> byValue =
        Comparator.comparingLong((long[] r) -> r[1] == Long.MIN_VALUE ? Long.MAX_VALUE : r[1])
            .reversed()
            .thenComparingLong(r -> r[0]);
    List<String> expected = new ArrayList<>();
    rows.stream().sorted(byValue).skip(400).limit(1500).forEach(r -> expected.add(text(r)));
    assertEquals(
        expected,
        query(new PlanNode.Sort(scan, keys, offset, limit)).stream().map(String::valueOf).toList());
  }

  @Test
  void shouldSuspendUntilTheReaderReleases() throws Exception {
    List<long[]> rows = randomRows(new Random(3), 50_000, 100, 0);
    PlanNode scan = new PlanNode.TableScan(table(rows), BOTH, INT8S, null);
    BatchSink sink = new BatchSink(2, 4096);
    TestScope scope = scope();
    CompletableFuture<Outcome> outcome = start(new PhysicalPlan.Query(scan), scope, sink);
    List<List<@Nullable Long>> read = new ArrayList<>();
    while (!outcome.isDone()) {
      Await.until("a batch or the end", () -> outcome.isDone() || !sink.batches().isEmpty());
      read.addAll(drained(sink));
    }
    read.addAll(drained(sink));
    assertNull(outcome.get().error());
    assertEquals(50_000, read.size());
    assertEquals(50_000L, outcome.get().count());
    scope.transaction.abort();
  }

  @Test
  void shouldEndACanceledStatementThatWaitsForItsReader() throws Exception {
    PlanNode scan =
        new PlanNode.TableScan(table(randomRows(new Random(5), 50_000, 100, 0)), BOTH, INT8S, null);
    BatchSink sink = new BatchSink(2, 4096);
    TestScope scope = scope();
    CompletableFuture<Outcome> outcome = start(new PhysicalPlan.Query(scan), scope, sink);
    Await.until("the first batch", () -> !sink.batches().isEmpty());
    assertFalse(outcome.isDone());
    scope.cancel();
    EngineException error = outcome.get(60, TimeUnit.SECONDS).error();
    assertEquals(ErrorCode.QUERY_CANCELED, error == null ? null : error.code());
    scope.transaction.abort();
  }

  @Test
  void shouldEndACanceledJoinThatFindsNoPairs() throws Exception {
    long id = table(randomRows(new Random(5), 150_000, 100, 0));
    PlanNode left = new PlanNode.TableScan(id, BOTH, INT8S, null);
    PlanNode right = new PlanNode.TableScan(id, BOTH, INT8S, null);
    // Keys are not negative: more than ten thousand million pairs are looked at in vain.
    Expr never =
        new Expr.Call(
            function("<"),
            List.of(
                new Expr.Call(function("+"), List.of(column(0), column(2))),
                Expr.Constant.of(TypeOid.INT8, -1)));
    TestScope scope = scope();
    CompletableFuture<Outcome> outcome =
        start(
            new PhysicalPlan.Query(new PlanNode.NestedLoopJoin(left, right, JoinKind.INNER, never)),
            scope,
            new BatchSink(4, 4096));
    scope.awaitScanned(150_001);
    scope.cancel();
    EngineException error = outcome.get(60, TimeUnit.SECONDS).error();
    assertEquals(ErrorCode.QUERY_CANCELED, error == null ? null : error.code());
    scope.transaction.abort();
  }

  @Test
  void shouldUndoAStatementThatFailsHalfWay() throws Exception {
    List<long[]> rows = new ArrayList<>(List.of(new long[] {1, 10}, new long[] {2, 20}));
    long id = table(rows);
    PhysicalPlan.Target target =
        new PhysicalPlan.Target(
            id, "s", "t", List.of("k", "v"), INT8S, new boolean[] {true, false});
    List<List<Expr>> values = new ArrayList<>();
    for (long k : new long[] {7, 8, 2}) {
      values.add(List.of(Expr.Constant.of(TypeOid.INT8, k), Expr.Constant.of(TypeOid.INT8, 5)));
    }
    TestScope scope = scope();
    Outcome outcome =
        start(
                new PhysicalPlan.Insert(target, new PlanNode.Values(values, INT8S), null),
                scope,
                new BatchSink(2, 4096))
            .get(60, TimeUnit.SECONDS);
    EngineException error = outcome.error();
    assertEquals(ErrorCode.UNIQUE_VIOLATION, error == null ? null : error.code());
    assertEquals("Key (k)=(2) already exists.", error == null ? null : error.detail());
    scope.nextRow();
    BatchSink sink = new BatchSink(10, 4096);
    PlanNode scan = new PlanNode.TableScan(id, BOTH, INT8S, null);
    assertNull(start(new PhysicalPlan.Query(scan), scope, sink).get(60, TimeUnit.SECONDS).error());
    assertEquals(List.of("[1, 10]", "[2, 20]"), sorted(drained(sink)));
    scope.transaction.abort();
  }

  @Test
  void shouldUpdateAndReturnNewRows() throws Exception {
    long id = table(randomRows(new Random(1), 100, 10, 0));
    PhysicalPlan.Target target =
        new PhysicalPlan.Target(
            id, "s", "t", List.of("k", "v"), INT8S, new boolean[] {true, false});
    Expr few = new Expr.Call(function("<"), List.of(column(0), Expr.Constant.of(TypeOid.INT8, 3)));
    TestScope scope = scope();
    BatchSink sink = new BatchSink(10, 4096);
    Outcome outcome =
        start(
                new PhysicalPlan.Update(
                    target,
                    new PlanNode.TableScan(id, BOTH, INT8S, few),
                    List.of(column(0), Expr.Constant.of(TypeOid.INT8, -5)),
                    List.of(column(1), column(0))),
                scope,
                sink)
            .get(60, TimeUnit.SECONDS);
    assertEquals(3L, outcome.count());
    assertEquals(List.of("[-5, 0]", "[-5, 1]", "[-5, 2]"), sorted(drained(sink)));
    scope.transaction.abort();
  }

  @Test
  void shouldUpdateEveryRowOfManyPagesOnce() throws Exception {
    int rows = 300_000;
    long id = table(randomRows(new Random(2), rows, 10, 0));
    assertTrue(store.table(id).pageCount() > 32, "enough pages for several tasks");
    PhysicalPlan.Target target =
        new PhysicalPlan.Target(
            id, "s", "t", List.of("k", "v"), INT8S, new boolean[] {true, false});
    TestScope scope = scope();
    Outcome outcome =
        start(
                new PhysicalPlan.Update(
                    target,
                    new PlanNode.TableScan(id, BOTH, INT8S, null),
                    List.of(column(0), column(0)),
                    null),
                scope,
                new BatchSink(10, 4096))
            .get(60, TimeUnit.SECONDS);
    assertNull(outcome.error());
    assertEquals((long) rows, outcome.count());
    scope.nextRow();
    Expr same = new Expr.Call(function("="), List.of(column(0), column(1)));
    BatchSink sink = new BatchSink(10, 4096);
    PlanNode equal = new PlanNode.TableScan(id, BOTH, INT8S, same);
    PlanNode count =
        new PlanNode.Aggregate(
            equal,
            new int[0],
            List.of(new AggregateCall("count", new int[0], new int[0], false, -1, TypeOid.INT8)),
            new int[] {TypeOid.INT8});
    assertNull(start(new PhysicalPlan.Query(count), scope, sink).get(60, TimeUnit.SECONDS).error());
    assertEquals(List.of(List.of((long) rows)), drained(sink));
    scope.transaction.abort();
  }

  @Test
  void shouldWaitForTheOwnerOfARowAndTryAgain() throws Exception {
    long id = table(List.of(new long[] {1, 10}));
    PhysicalPlan.Target target =
        new PhysicalPlan.Target(
            id, "s", "t", List.of("k", "v"), INT8S, new boolean[] {true, false});
    Expr increment =
        new Expr.Call(function("+"), List.of(column(1), Expr.Constant.of(TypeOid.INT8, 1)));
    PhysicalPlan update =
        new PhysicalPlan.Update(
            target,
            new PlanNode.TableScan(id, BOTH, INT8S, null),
            List.of(column(0), increment),
            null);
    TestScope first = scope();
    TestScope second = scope();
    assertEquals(
        1L, start(update, first, new BatchSink(2, 4096)).get(60, TimeUnit.SECONDS).count());
    CompletableFuture<Outcome> waiting = start(update, second, new BatchSink(2, 4096));
    CompletableFuture<@Nullable Throwable> committed = new CompletableFuture<>();
    first.transaction.commit(false, committed::complete);
    assertNull(committed.get(60, TimeUnit.SECONDS));
    assertEquals(1L, waiting.get(60, TimeUnit.SECONDS).count());
    CompletableFuture<@Nullable Throwable> committedToo = new CompletableFuture<>();
    second.transaction.commit(false, committedToo::complete);
    assertNull(committedToo.get(60, TimeUnit.SECONDS));
    assertEquals(List.of("[1, 12]"), sorted(query(new PlanNode.TableScan(id, BOTH, INT8S, null))));
  }
}
