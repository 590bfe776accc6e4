package dev.kakehashi.engine.store;

import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.engine.api.queue.LeaseHolder;
import dev.kakehashi.engine.api.queue.LeasedTask;
import dev.kakehashi.engine.api.queue.NewTask;
import dev.kakehashi.engine.api.queue.Payload;
import dev.kakehashi.engine.api.queue.QueueDefinition;
import dev.kakehashi.engine.api.queue.QueueOptions;
import dev.kakehashi.engine.api.queue.QueueSystem;
import dev.kakehashi.engine.api.queue.ReceiveRequest;
import dev.kakehashi.engine.queue.StoreQueueHost;
import dev.kakehashi.engine.store.api.ColumnKind;
import dev.kakehashi.engine.store.api.KeyRange;
import dev.kakehashi.engine.store.api.Preparation;
import dev.kakehashi.engine.store.api.ReadView;
import dev.kakehashi.engine.store.api.Store;
import dev.kakehashi.engine.store.api.Store.CatalogChange;
import dev.kakehashi.engine.store.api.StoreConfig;
import dev.kakehashi.engine.store.api.StoreTransaction;
import dev.kakehashi.engine.store.api.TableDefinition;
import dev.kakehashi.engine.store.api.TableDefinition.IndexDefinition;
import dev.kakehashi.engine.store.api.TableStore;
import dev.kakehashi.engine.store.log.SmallLog;
import dev.kakehashi.engine.testing.disk.TracedProcess;
import dev.kakehashi.queue.DurableQueues;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Random;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/// A program that does everything that reaches the disk, and says what was acknowledged. [StorePowerLossTest] takes its power.
///
/// | thread | transaction | says |
/// |---|---|---|
/// | writer | changes rows of two tables by a generator, and its counter; enqueues a task with its number | `stored <writer> <number>` |
/// | consumer | completes tasks and inserts a row for each | `effect <writer> <number>` |
/// | definer | makes a table with rows, drops the one before | `defined <number>` |
/// | preparer | inserts a row and prepares; then decides | `prepared`, `deciding`, `committed`, `aborted` with a number |
final class PowerLossProgram {
  static final int WRITERS = 3;
  static final long QUEUE = 1_000_000;
  static final int DEFINED_ROWS = 5;

  private static final long MEMORY_BYTES = 1L << 27;
  private static final int KEYS = 30;
  private static final int MOST_OPERATIONS = 6;
  private static final int PRIMARY = 0;

  /// Key of a writer's counter in the first table.
  static final long COUNTER = 0;

  private final Store store;
  private final TracedProcess.Marks marks;
  private final long seed;

  private PowerLossProgram(Store store, TracedProcess.Marks marks, long seed) {
    this.store = store;
    this.marks = marks;
    this.seed = seed;
  }

  /// @param arguments directory, seed, number of this life, transactions of each writer
  public static void main(String[] arguments) throws Exception {
    try (TracedProcess.Marks marks = new TracedProcess.Marks();
        Store store = open(Path.of(arguments[0]))) {
      new PowerLossProgram(store, marks, Long.parseLong(arguments[1]))
          .run(Integer.parseInt(arguments[2]), Integer.parseInt(arguments[3]));
    }
  }

  // ---- the store ----

  static StoreConfig config(Path directory) {
    return new StoreConfig(directory, MEMORY_BYTES, DurableQueues.opener());
  }

  /// Opens the store, with tables and queue if they were made.
  static Store open(Path directory) {
    Store store = MemoryStore.open(config(directory), SmallLog::open);
    queues(store)
        .start(
            new StoreQueueHost(store),
            List.of(
                new QueueDefinition(
                    QUEUE,
                    "public",
                    "work",
                    QueueOptions.DEFAULT,
                    List.of(),
                    Map.of(),
                    List.of())));
    return store;
  }

  static QueueSystem queues(Store store) {
    return Objects.requireNonNull(store.queues());
  }

  /// The numbers of the program's tables: two of writers, effects, prepared; none before they are made.
  static long[] tableIds(Store store) {
    byte[] ids = store.catalog().get("tables");
    return ids == null
        ? new long[0]
        : Arrays.stream(new String(ids, StandardCharsets.UTF_8).split(",", -1))
            .mapToLong(Long::parseLong)
            .toArray();
  }

  private void createTables() {
    StoreTransaction transaction = begin();
    StringBuilder ids = new StringBuilder();
    for (int t = 0; t < 4; t++) {
      TableDefinition table = definition();
      transaction.define(new CatalogChange.CreateTable(table));
      ids.append(t == 0 ? "" : ",").append(table.tableId());
    }
    transaction.define(
        new CatalogChange.Put("tables", ids.toString().getBytes(StandardCharsets.UTF_8)));
    transaction.queueChanges().createQueue(QUEUE);
    Rows.commit(transaction);
    marks.put("tables");
  }

  /// Writer, key, tag, value.
  private TableDefinition definition() {
    return new TableDefinition(
        store.nextObjectId(),
        List.of(ColumnKind.INTEGER, ColumnKind.INTEGER, ColumnKind.INTEGER, ColumnKind.VARLENA),
        List.of(true, true, true, false),
        List.of(
            new IndexDefinition(
                store.nextObjectId(), "key", List.of(0, 1), List.of(false, false), true),
            new IndexDefinition(
                store.nextObjectId(), "tag", List.of(2, 1), List.of(true, false), false)));
  }

  private StoreTransaction begin() {
    StoreTransaction transaction = store.begin(false, false);
    transaction.beginStatement();
    return transaction;
  }

  private void run(int life, int transactions) throws Exception {
    marks.put("seed " + seed);
    if (tableIds(store).length == 0) {
      createTables();
    }
    long[] tables = tableIds(store);
    decideAll();
    try (ExecutorService threads = Executors.newFixedThreadPool(WRITERS + 3)) {
      List<Future<?>> running = new ArrayList<>();
      for (int w = 0; w < WRITERS; w++) {
        int writer = w;
        running.add(threads.submit(() -> write(tables, writer, transactions)));
      }
      running.add(threads.submit(() -> consume(tables[2], transactions)));
      running.add(threads.submit(() -> define(transactions / 8)));
      running.add(threads.submit(() -> prepare(tables[3], life, transactions / 8)));
      for (Future<?> each : running) {
        each.get();
      }
    }
  }

  // ---- writers ----

  /// Rows of one writer, by what it does: the same transactions by the same seed.
  static final class Writer {
    private final long seed;
    private final int number;
    long transactions;

    /// Rows of the two tables, by their key.
    final List<Map<Long, List<Object>>> rows = List.of(new TreeMap<>(), new TreeMap<>());

    Writer(long seed, int number) {
      this.seed = seed;
      this.number = number;
    }

    /// A change of a row.
    ///
    /// @param after null: it is deleted
    record Change(
        int table, long key, @Nullable List<Object> before, @Nullable List<Object> after) {}

    /// Does the next transaction.
    List<Change> next() {
      transactions++;
      Random random = new Random((seed * 31 + number) * 1_000_003 + transactions);
      List<Change> changes = new ArrayList<>();
      changes.add(change(0, COUNTER, List.of((long) number, COUNTER, transactions, "")));
      int count = 1 + random.nextInt(MOST_OPERATIONS);
      for (int i = 0; i < count; i++) {
        int table = random.nextInt(2);
        long key = 1L + random.nextInt(KEYS);
        boolean deletes = rows.get(table).containsKey(key) && random.nextInt(5) < 2;
        changes.add(
            change(
                table,
                key,
                deletes
                    ? null
                    : List.of((long) number, key, (long) random.nextInt(10), value(random))));
      }
      return changes;
    }

    private Change change(int table, long key, @Nullable List<Object> after) {
      Map<Long, List<Object>> of = rows.get(table);
      return new Change(table, key, after == null ? of.remove(key) : of.put(key, after), after);
    }

    private static String value(Random random) {
      int length =
          switch (random.nextInt(20)) {
            case 0 -> 100_000; // the log has a file of its own for some
            case 1, 2, 3 -> 3_000;
            default -> 100;
          };
      String piece = Long.toHexString(random.nextLong()) + "-";
      return piece.repeat(1 + random.nextInt(length) / piece.length());
    }

    /// Whether a transaction is waited for until it is durable.
    boolean waits() {
      return new Random(seed + number * 77L + transactions * 13).nextInt(3) > 0;
    }
  }

  /// A row by its key, for a transaction.
  private static Rows.Row row(TableStore table, ReadView view, long writer, long key) {
    List<Rows.Row> found = Rows.indexScan(table, view, PRIMARY, KeyRange.equal(writer, key));
    if (found.size() != 1) {
      throw new IllegalStateException(found.size() + " rows of " + writer + ", " + key);
    }
    return found.getFirst();
  }

  private @Nullable Void write(long[] tables, int number, int transactions) {
    Writer writer = new Writer(seed, number);
    long done = count(store, tables[0], number);
    while (writer.transactions < done) {
      writer.next();
    }
    for (int i = 0; i < transactions; i++) {
      StoreTransaction transaction = begin();
      for (Writer.Change change : writer.next()) {
        apply(transaction, store.table(tables[change.table()]), number, change);
      }
      String name = number + "-" + writer.transactions;
      transaction.queueChanges().enqueue(QUEUE, task(name));
      boolean waits = writer.waits();
      Rows.commit(transaction, waits);
      if (waits) {
        marks.put("stored " + number + " " + writer.transactions);
      }
    }
    return null;
  }

  private static void apply(
      StoreTransaction transaction, TableStore table, int writer, Writer.Change change) {
    ReadView view = transaction.beginStatement();
    if (change.before() == null) {
      Rows.insert(table, transaction, Objects.requireNonNull(change.after()).toArray());
      return;
    }
    long rowId = row(table, view, writer, change.key()).rowId();
    if (change.after() == null) {
      table.delete(transaction, rowId);
    } else {
      Rows.update(table, transaction, rowId, change.after().toArray());
    }
  }

  /// Transactions of a writer that are there.
  static long count(Store store, long table, int writer) {
    StoreTransaction reader = store.begin(true, false);
    try {
      List<Rows.Row> counter =
          Rows.indexScan(
              store.table(table),
              reader.beginStatement(),
              PRIMARY,
              KeyRange.equal(writer, COUNTER));
      return counter.isEmpty()
          ? 0
          : (long) Objects.requireNonNull(counter.getFirst().values().get(2));
    } finally {
      reader.abort();
    }
  }

  // ---- the queue ----

  private static NewTask task(String name) {
    // Some are longer, so that segments get full.
    String text = name + " ".repeat(name.endsWith("7") ? 2000 : 0);
    return NewTask.of(new Payload(false, text.getBytes(StandardCharsets.UTF_8)));
  }

  private @Nullable Void consume(long table, int transactions) {
    for (int i = 0; i < transactions; i++) {
      List<LeasedTask> tasks = receive(1 + i % 4);
      if (tasks.isEmpty()) {
        return null; // writers have ended
      }
      StoreTransaction transaction = begin();
      List<String> names = new ArrayList<>();
      for (LeasedTask each : tasks) {
        String name = new String(each.payload().bytes(), StandardCharsets.UTF_8).strip();
        String[] parts = name.split("-", -1);
        Rows.insert(
            store.table(table),
            transaction,
            Long.parseLong(parts[0]),
            Long.parseLong(parts[1]),
            0L,
            name);
        transaction.queueChanges().complete(each.token());
        names.add(parts[0] + " " + parts[1]);
      }
      if (i % 5 == 4) {
        // Another one gets them.
        transaction.abort();
        StoreTransaction release = begin();
        tasks.forEach(each -> release.queueChanges().release(each.token()));
        Rows.commit(release);
        continue;
      }
      Rows.commit(transaction);
      names.forEach(each -> marks.put("effect " + each));
    }
    return null;
  }

  private List<LeasedTask> receive(int most) {
    CompletableFuture<List<LeasedTask>> received = new CompletableFuture<>();
    queues(store)
        .receive(
            new ReceiveRequest(
                QUEUE,
                QueueDefinition.NO_GROUP,
                most,
                1 << 20,
                TimeUnit.SECONDS.toNanos(5),
                0,
                LeaseHolder.TIME,
                List.of()),
            new QueueSystem.Listener() {
              @Override
              public void received(List<LeasedTask> tasks) {
                received.complete(tasks);
              }

              @Override
              public void failed(EngineException reason) {
                received.completeExceptionally(reason);
              }
            });
    return received.orTimeout(60, TimeUnit.SECONDS).join();
  }

  // ---- the catalogue ----

  /// The definer's state: number, its table, the table before, which is gone; zeros before it has done anything.
  static long[] defined(Store store) {
    byte[] state = store.catalog().get("defined");
    return state == null
        ? new long[3]
        : Arrays.stream(new String(state, StandardCharsets.UTF_8).split(" ", -1))
            .mapToLong(Long::parseLong)
            .toArray();
  }

  private @Nullable Void define(int transactions) {
    for (int i = 0; i < transactions; i++) {
      long[] before = defined(store);
      long number = before[0] + 1;
      StoreTransaction transaction = begin();
      TableDefinition table = definition();
      transaction.define(new CatalogChange.CreateTable(table));
      for (long row = 0; row < DEFINED_ROWS; row++) {
        Rows.insert(store.table(table.tableId()), transaction, number, row, number, "defined");
      }
      if (before[1] != 0) {
        transaction.define(new CatalogChange.DropTable(before[1]));
      }
      String state = number + " " + table.tableId() + " " + before[1];
      transaction.define(new CatalogChange.Put("defined", state.getBytes(StandardCharsets.UTF_8)));
      Rows.commit(transaction);
      marks.put("defined " + number);
    }
    return null;
  }

  // ---- two phases ----

  static long preparedNumber(StoreTransaction transaction) {
    return Long.parseLong(Objects.requireNonNull(transaction.preparation()).globalId());
  }

  static boolean commits(long number) {
    return number % 3 != 0;
  }

  private static void await(Consumer<Consumer<@Nullable Throwable>> operation) {
    CompletableFuture<@Nullable Void> done = new CompletableFuture<>();
    operation.accept(failure -> {
      if (failure == null) {
        done.complete(null);
      } else {
        done.completeExceptionally(failure);
      }
    });
    done.orTimeout(60, TimeUnit.SECONDS).join();
  }

  private @Nullable Void prepare(long table, int life, int transactions) {
    for (int i = 1; i <= transactions; i++) {
      long number = life * 1_000_000L + i;
      StoreTransaction transaction = begin();
      Rows.insert(store.table(table), transaction, 0L, number, 0L, "prepared");
      await(done ->
          transaction.prepare(new Preparation(Long.toString(number), "", "alice", 0, 0), done));
      marks.put("prepared " + number);
      if (i % 4 != 0) {
        decide(transaction);
      }
    }
    return null;
  }

  /// Ends what an earlier life has prepared.
  private void decideAll() {
    List.copyOf(store.prepared()).forEach(this::decide);
  }

  private void decide(StoreTransaction transaction) {
    long number = preparedNumber(transaction);
    marks.put("deciding " + number);
    if (commits(number)) {
      await(done -> transaction.commit(true, done));
      marks.put("committed " + number);
    } else {
      await(transaction::rollbackPrepared);
      marks.put("aborted " + number);
    }
  }
}
