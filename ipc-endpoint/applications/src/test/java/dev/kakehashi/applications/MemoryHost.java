package dev.kakehashi.applications;

import dev.kakehashi.engine.api.application.ApplicationDefinition;
import dev.kakehashi.engine.api.application.ApplicationHost;
import dev.kakehashi.engine.api.application.DirectTable;
import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.engine.api.queue.LeaseToken;
import dev.kakehashi.engine.api.queue.LeasedTask;
import dev.kakehashi.engine.api.queue.NewTask;
import dev.kakehashi.protocol.ErrorCode;
import dev.kakehashi.protocol.TypeOid;
import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/// An engine of one table, `orders (id int8 primary key, customer text, total numeric)`, and of queues, in memory: a transaction works on a
/// copy, and conflicts with every other one that has committed since it began. Thread-safe.
final class MemoryHost implements ApplicationHost {
  static final List<DirectTable.Column> COLUMNS =
      List.of(
          new DirectTable.Column("id", TypeOid.INT8, true, false),
          new DirectTable.Column("customer", TypeOid.TEXT, false, false),
          new DirectTable.Column("total", TypeOid.NUMERIC, false, false));

  final Map<String, byte[]> jars = new ConcurrentHashMap<>();
  final AtomicInteger openRows = new AtomicInteger();
  final AtomicInteger begun = new AtomicInteger();
  final AtomicInteger rolledBack = new AtomicInteger();
  final AtomicInteger conflicts = new AtomicInteger();
  final LinkedBlockingQueue<LeasedTask> ready = new LinkedBlockingQueue<>();
  final Set<String> leased = ConcurrentHashMap.newKeySet();
  final Set<String> completed = ConcurrentHashMap.newKeySet();
  final Map<String, String> failed = new ConcurrentHashMap<>();
  final AtomicInteger extended = new AtomicInteger();
  private final AtomicLong taskIds = new AtomicLong();
  private TreeMap<Long, Object[]> committed = new TreeMap<>();
  private long commits;

  synchronized int rows() {
    return committed.size();
  }

  synchronized Object @Nullable [] row(long id) {
    return committed.get(id);
  }

  @Override
  public byte[] jar(ApplicationDefinition.Jar jar) {
    byte[] bytes = jars.get(jar.sha256());
    if (bytes == null) {
      throw new EngineException(ErrorCode.UNDEFINED_OBJECT, "no jar " + jar.sha256());
    }
    return bytes;
  }

  @Override
  public synchronized Work begin(String user, String isolation) {
    begun.incrementAndGet();
    return new Work();
  }

  @Override
  public JoinedAccess join(String user, String token) {
    throw new EngineException(ErrorCode.NO_SUCH_TRANSACTION, "there is no transaction " + token);
  }

  @Override
  public List<LeasedTask> receive(
      String user, String queue, String group, int max, long leaseMillis, long waitNanos)
      throws InterruptedException {
    List<LeasedTask> tasks = new ArrayList<>();
    LeasedTask first = ready.poll(waitNanos, TimeUnit.NANOSECONDS);
    if (first != null) {
      tasks.add(first);
      ready.drainTo(tasks, max - 1);
    }
    tasks.forEach(task -> leased.add(task.token().text()));
    return tasks;
  }

  @Override
  public void extend(String token, long leaseMillis) {
    extended.incrementAndGet();
  }

  @Override
  public void release(List<String> tokens) {
    leased.removeAll(tokens);
  }

  private LeasedTask leased(NewTask task) {
    long id = taskIds.incrementAndGet();
    return new LeasedTask(
        new LeaseToken(1, 1, 0, id, 1, 7),
        id,
        task.payload(),
        task.key(),
        task.fair(),
        task.priority(),
        0,
        0,
        null);
  }

  /// A transaction.
  final class Work implements DirectTransaction {
    private TreeMap<Long, Object[]> rows;
    private final List<TreeMap<Long, Object[]>> savepoints = new ArrayList<>();
    private final List<LeasedTask> tasks = new ArrayList<>();
    private final Set<String> done = new HashSet<>();
    private final long since;
    private volatile boolean canceled;
    private boolean ended;

    Work() {
      rows = new TreeMap<>(committed);
      since = commits;
    }

    void openRows(int by) {
      openRows.addAndGet(by);
    }

    private void check() {
      if (canceled) {
        throw new EngineException(ErrorCode.QUERY_CANCELED, "canceling statement");
      }
      if (ended) {
        throw new AssertionError("the transaction is over");
      }
    }

    @Override
    public void commit() {
      check();
      synchronized (MemoryHost.this) {
        ended = true;
        if (commits != since) {
          conflicts.incrementAndGet();
          throw new EngineException(ErrorCode.SERIALIZATION_FAILURE, "could not serialize access");
        }
        commits++;
        committed = rows;
      }
      completed.addAll(done);
      leased.removeAll(done);
      ready.addAll(tasks);
    }

    @Override
    public void rollback() {
      if (!ended) {
        ended = true;
        rolledBack.incrementAndGet();
      }
    }

    @Override
    public DirectTable table(String name) {
      check();
      if (!name.equals("orders")) {
        throw new EngineException(
            ErrorCode.UNDEFINED_TABLE, "relation \"" + name + "\" does not exist");
      }
      return new Orders(this);
    }

    @Override
    public long execute(String sql, @Nullable Object[] parameters, @Nullable RowConsumer consumer) {
      check();
      if (!sql.startsWith("SELECT")) {
        throw new EngineException(ErrorCode.SYNTAX_ERROR, "syntax error");
      }
      long count = 0;
      for (Object[] row : rows.values()) {
        count++;
        if (consumer != null && !consumer.row(COLUMNS, row)) {
          break;
        }
      }
      return count;
    }

    @Override
    public void savepoint() {
      check();
      savepoints.add(new TreeMap<>(rows));
    }

    @Override
    public void releaseSavepoint() {
      savepoints.removeLast();
    }

    @Override
    public void rollbackToSavepoint() {
      rows = savepoints.removeLast();
    }

    @Override
    public long enqueue(String queue, NewTask task) {
      check();
      LeasedTask made = leased(task);
      tasks.add(made);
      return made.taskId();
    }

    @Override
    public void complete(String token) {
      check();
      if (!leased.contains(token)) {
        throw new EngineException(ErrorCode.LEASE_LOST, "the lease is lost");
      }
      done.add(token);
    }

    @Override
    public void fail(String token, String error) {
      check();
      failed.put(token, error);
      leased.remove(token);
    }

    @Override
    public void cancel() {
      canceled = true;
    }
  }

  private static final class Orders implements DirectTable {
    private final Work work;
    private int[] selected = {0, 1, 2};

    Orders(Work work) {
      this.work = work;
    }

    @Override
    public List<Column> columns() {
      return COLUMNS;
    }

    @Override
    public List<String> key() {
      return List.of("id");
    }

    @Override
    public void select(List<String> columns) {
      selected =
          columns.stream()
              .mapToInt(name -> COLUMNS.stream().map(Column::name).toList().indexOf(name))
              .toArray();
    }

    private @Nullable Object[] project(Object[] row) {
      return Arrays.stream(selected).mapToObj(i -> row[i]).toArray();
    }

    @Override
    public @Nullable Object @Nullable [] find(Object[] values, boolean lock) {
      work.check();
      Object[] row = work.rows.get((Long) values[0]);
      return row == null ? null : project(row);
    }

    @Override
    public Rows range(@Nullable String index, Object[] from, Object[] to) {
      work.check();
      long first = from.length == 0 ? Long.MIN_VALUE : ((Number) from[0]).longValue();
      long last = to.length == 0 ? Long.MAX_VALUE : ((Number) to[0]).longValue();
      var each = work.rows.subMap(first, true, last, true).values().iterator();
      work.openRows(1);
      return new Rows() {
        @Override
        public @Nullable Object @Nullable [] next() {
          work.check();
          return each.hasNext() ? project(each.next()) : null;
        }

        @Override
        public void close() {
          work.openRows(-1);
        }
      };
    }

    @Override
    public Rows all() {
      return range(null, new Object[0], new Object[0]);
    }

    @Override
    public void insert(@Nullable Object[] values) {
      work.check();
      @Nullable Object[] row = new Object[3];
      for (int i = 0; i < selected.length; i++) {
        row[selected[i]] = values[i];
      }
      Long id = Objects.requireNonNull((Long) row[0]);
      if (row[2] != null && ((BigDecimal) row[2]).signum() < 0) {
        throw new EngineException(ErrorCode.CHECK_VIOLATION, "total is negative");
      }
      if (work.rows.putIfAbsent(id, row) != null) {
        throw new EngineException(ErrorCode.UNIQUE_VIOLATION, "duplicate key value");
      }
    }

    @Override
    public boolean update(@Nullable Object[] values) {
      work.check();
      for (int i = 0; i < selected.length; i++) {
        if (selected[i] == 0) {
          Object[] old = work.rows.get((Long) values[i]);
          if (old == null) {
            return false;
          }
          Object[] row = old.clone();
          for (int j = 0; j < selected.length; j++) {
            row[selected[j]] = values[j];
          }
          work.rows.put((Long) values[i], row);
          return true;
        }
      }
      throw new AssertionError("no key");
    }

    @Override
    public boolean delete(Object[] key) {
      work.check();
      return work.rows.remove((Long) key[0]) != null;
    }
  }
}
