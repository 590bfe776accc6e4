package dev.kakehashi.server.standby;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.kakehashi.client.EndpointException;
import dev.kakehashi.client.PreparedStatement;
import dev.kakehashi.client.QueueTask;
import dev.kakehashi.client.Rows;
import dev.kakehashi.client.Session;
import dev.kakehashi.client.TaskDraft;
import dev.kakehashi.client.TaskQueue;
import dev.kakehashi.client.Transaction;
import dev.kakehashi.server.EndpointProcess;
import dev.kakehashi.testsupport.Await;
import dev.kakehashi.transport.TransportException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.concurrent.Callable;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicLongArray;

/// Clients of two endpoints: transfers and tasks on the one that serves, readers on the one that follows.
///
/// Each writer appends to a list of its own and moves money in the same transaction, which enqueues a task. A consumer's transaction has
/// the effect of a task and completes it. A standby shows numbers of transfers by writer. All that are ever shown have to stand in one
/// order: they are states of one history, whichever endpoint has shown them.
///
/// Used by one thread, which closes it.
final class TransferLoad implements AutoCloseable {
  private static final int WRITERS = 3;
  private static final int READERS = 2;
  private static final int ACCOUNTS = 40;
  private static final long TOTAL = ACCOUNTS * 100L;
  private static final int DRAINED_TASKS = 100;
  private static final long WRITER_FACTOR = 1_000_000_000_000L;
  private static final String SEEN =
      "select (select sum(balance)::int8 from account), count(*), (select count(*) from effect where not exists (select from entry where entry.writer = effect.writer and entry.n = effect.n))"
          + ", coalesce(max(n) filter (where writer = 0), 0), coalesce(max(n) filter (where writer = 1), 0), coalesce(max(n) filter (where writer = 2), 0) from entry";

  private final ExecutorService clients = Executors.newFixedThreadPool(WRITERS + 1 + READERS);
  private final List<Future<Void>> running = new ArrayList<>();

  /// Last transfer of a writer that was told, and the last one that it has begun. Written by the writer.
  private final AtomicLongArray acknowledged = new AtomicLongArray(WRITERS);

  private final AtomicLongArray begun = new AtomicLongArray(WRITERS);
  private final AtomicLong completed = new AtomicLong();
  private final AtomicLong reads = new AtomicLong();

  /// States that were shown, by the number of transfers in it.
  private final ConcurrentSkipListMap<Long, List<Long>> shown = new ConcurrentSkipListMap<>();

  /// Written by the caller, read by clients before they attach.
  private volatile Roles roles;

  private volatile boolean stopping;

  /// @param newest transfers that were seen there
  private record Roles(EndpointProcess serving, EndpointProcess following, AtomicLong newest) {}

  private TransferLoad(EndpointProcess serving, EndpointProcess following) {
    this.roles = new Roles(serving, following, new AtomicLong());
  }

  /// Makes its tables.
  static void define(EndpointProcess serving) {
    try (Session session = serving.attach()) {
      session.execute("create table account (id int8 primary key, balance int8)");
      session.execute(
          "insert into account select i, 100 from generate_series(1, %d) i".formatted(ACCOUNTS));
      session.execute(
          "create table entry (writer int8, n int8, amount int8, primary key (writer, n))");
      session.execute("create table effect (writer int8, n int8, primary key (writer, n))");
      session.execute("create queue work with (min_backoff = '1ms', max_attempts = 0)");
    }
  }

  static TransferLoad start(EndpointProcess serving, EndpointProcess following, Random seeds) {
    TransferLoad load = new TransferLoad(serving, following);
    List<Callable<Void>> all = new ArrayList<>();
    for (int writer = 0; writer < WRITERS; writer++) {
      int number = writer;
      Random random = new Random(seeds.nextLong());
      all.add(() -> load.untilStopped(() -> load.transfer(number, random)));
    }
    all.add(() -> load.untilStopped(load::consume));
    for (int reader = 0; reader < READERS; reader++) {
      all.add(() -> load.untilStopped(load::read));
    }
    all.forEach(each -> load.running.add(load.clients.submit(each)));
    return load;
  }

  /// The endpoints have new roles.
  void use(EndpointProcess serving, EndpointProcess following) {
    roles = new Roles(serving, following, new AtomicLong());
  }

  private interface Client {
    void run();
  }

  /// Clients attach again after whatever ends their sessions.
  private Void untilStopped(Client client) throws InterruptedException {
    while (!stopping) {
      try {
        client.run();
      } catch (EndpointException e) {
        assertFalse(e.sqlstate().startsWith("XX"), e::toString);
        TimeUnit.MILLISECONDS.sleep(20);
      } catch (TransportException e) {
        // Killed, and not up again.
        TimeUnit.MILLISECONDS.sleep(20);
      }
    }
    return null;
  }

  private static List<Long> row(Session session, PreparedStatement query, int columns) {
    List<Long> found = new ArrayList<>();
    try (Rows rows = session.query(query)) {
      assertTrue(rows.next());
      for (int c = 0; c < columns; c++) {
        found.add(rows.getLong(c));
      }
    }
    return found;
  }

  private static long number(Session session, String sql) {
    try (PreparedStatement query = session.prepare(sql)) {
      return row(session, query, 1).getFirst();
    }
  }

  private void transfer(int writer, Random random) {
    try (Session session = roles.serving().attach();
        PreparedStatement move =
            session.prepare("update account set balance = balance + $1 where id = $2");
        PreparedStatement append = session.prepare("insert into entry values ($1, $2, $3)")) {
      TaskQueue queue = session.queue("work");
      // The last one may have been committed, and nobody told.
      long n = number(session, "select coalesce(max(n), 0) from entry where writer = " + writer);
      assertTrue(
          n >= acknowledged.get(writer) && n <= begun.get(writer),
          () ->
              "writer %d was told of %d, and %d is there"
                  .formatted(writer, acknowledged.get(writer), n));
      for (long next = n + 1; !stopping; next++) {
        long amount = random.nextInt(100);
        // In one order, so that no two wait for each other.
        long from = 1L + random.nextInt(ACCOUNTS - 1);
        long to = from + 1 + random.nextInt((int) (ACCOUNTS - from));
        begun.set(writer, next);
        try (Transaction transaction = session.begin()) {
          transaction.update(append, append.parameters().addRow((long) writer, next, amount));
          transaction.update(move, move.parameters().addRow(-amount, from));
          transaction.update(move, move.parameters().addRow(amount, to));
          queue.enqueue(
              transaction, TaskDraft.ofJson(Long.toString(writer * WRITER_FACTOR + next)));
          transaction.commit();
        }
        acknowledged.set(writer, next);
      }
    }
  }

  /// Tasks and their effects, in one transaction.
  private static void complete(Session session, PreparedStatement insert, List<QueueTask> tasks) {
    try (Transaction transaction = session.begin()) {
      for (QueueTask task : tasks) {
        long id = Long.parseLong(task.json());
        transaction.update(
            insert, insert.parameters().addRow(id / WRITER_FACTOR, id % WRITER_FACTOR));
        task.complete(transaction);
      }
      transaction.commit();
    }
  }

  private void consume() {
    try (Session session = roles.serving().attach();
        PreparedStatement insert = session.prepare("insert into effect values ($1, $2)")) {
      TaskQueue queue = session.queue("work");
      while (!stopping) {
        Optional<QueueTask> task = queue.receive(Duration.ofMillis(100));
        if (task.isPresent()) {
          complete(session, insert, List.of(task.get()));
          completed.incrementAndGet();
        }
      }
    }
  }

  @SuppressWarnings("ReferenceEquality") // other roles are another object
  private void read() {
    Roles now = roles;
    try (Session session = now.following().attach();
        PreparedStatement seen = session.prepare(SEEN)) {
      while (!stopping && now == roles) {
        long before = now.newest().get();
        List<Long> state = row(session, seen, 3 + WRITERS);
        long transfers = state.get(1);
        List<Long> byWriter = state.subList(3, 3 + WRITERS);
        assertEquals(TOTAL, state.get(0), "money is moved by half");
        assertEquals(
            byWriter.stream().mapToLong(Long::longValue).sum(), transfers, "a list has a hole");
        assertEquals(0, state.get(2), "a task was done without its transfer");
        assertTrue(transfers >= before, "%d was seen before %d".formatted(before, transfers));
        now.newest().accumulateAndGet(transfers, Math::max);
        List<Long> other = shown.putIfAbsent(transfers, List.copyOf(byWriter));
        assertTrue(
            other == null || other.equals(byWriter),
            () -> "two histories: %s and %s".formatted(other, byWriter));
        reads.incrementAndGet();
      }
    }
  }

  private long acknowledged() {
    long sum = 0;
    for (int writer = 0; writer < WRITERS; writer++) {
      sum += acknowledged.get(writer);
    }
    return sum;
  }

  /// Waits until writers, the consumer and readers have come on.
  void awaitProgress(int transfers) {
    long transfersBefore = acknowledged();
    long completedBefore = completed.get();
    long readsBefore = reads.get();
    Await.until(
        "transfers, tasks and reads",
        () ->
            running.stream().anyMatch(Future::isDone)
                || (acknowledged() >= transfersBefore + transfers
                    && completed.get() > completedBefore
                    && reads.get() >= readsBefore + 3));
    failIfEnded();
  }

  private void failIfEnded() {
    for (Future<Void> each : running) {
      if (each.isDone()) {
        throw new AssertionError("a client has given up", each.exceptionNow());
      }
    }
  }

  /// Ends the clients, and looks whether all is there: on the endpoint that serves, on the other one, and in what was shown.
  ///
  /// @return a line about it
  String end() throws Exception {
    failIfEnded();
    try (Session session = roles.serving().attach()) {
      // The consumer has its own end.
      stopWriters();
      List<Long> all;
      try (PreparedStatement seen = session.prepare(SEEN)) {
        all = row(session, seen, 3 + WRITERS);
      }
      for (int writer = 0; writer < WRITERS; writer++) {
        long last = all.get(3 + writer);
        assertTrue(last >= acknowledged.get(writer) && last <= begun.get(writer));
      }
      assertEquals(TOTAL, all.get(0));
      drain(session);
      assertEquals(all.get(1), number(session, "select count(*) from effect"), "tasks done");
      for (String sum :
          List.of(
              "select sum(id * balance)::int8 from account",
              "select sum((writer + 1) * n * amount)::int8 from entry",
              "select sum((writer + 1) * n)::int8 from effect")) {
        long expected = number(session, sum);
        try (Session other = roles.following().attach()) {
          Await.untilEquals(sum, expected, () -> number(other, sum));
        }
      }
    }
    List<Long> before = List.of(0L, 0L, 0L);
    for (Map.Entry<Long, List<Long>> state : shown.entrySet()) {
      for (int writer = 0; writer < WRITERS; writer++) {
        assertTrue(
            before.get(writer) <= state.getValue().get(writer),
            "two orders: %s and %s".formatted(before, state.getValue()));
      }
      before = state.getValue();
    }
    return "%d transfers, %d tasks, %d reads of %d states"
        .formatted(acknowledged(), completed.get(), reads.get(), shown.size());
  }

  private void stopWriters() throws Exception {
    stopping = true;
    for (Future<Void> each : running) {
      each.get(60, TimeUnit.SECONDS);
    }
  }

  /// Does the tasks that are left, many in a transaction.
  private static void drain(Session session) {
    try (PreparedStatement insert = session.prepare("insert into effect values ($1, $2)")) {
      TaskQueue queue = session.queue("work");
      while (number(session, "select ready + delayed + leased from kakehashi_catalog.queues") > 0) {
        List<QueueTask> tasks = new ArrayList<>();
        // A task of a client that has gone comes back when its lease ends.
        Await.until(
            "a task that is left",
            () -> {
              queue.receive(Duration.ofMillis(100)).ifPresent(tasks::add);
              return !tasks.isEmpty();
            });
        Optional<QueueTask> more = queue.receive(Duration.ZERO);
        while (more.isPresent() && tasks.size() < DRAINED_TASKS) {
          tasks.add(more.get());
          more = queue.receive(Duration.ZERO);
        }
        more.ifPresent(tasks::add);
        complete(session, insert, tasks);
      }
    }
  }

  @Override
  public void close() {
    stopping = true;
    clients.shutdownNow();
  }
}
