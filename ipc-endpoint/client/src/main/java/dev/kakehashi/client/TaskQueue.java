package dev.kakehashi.client;

import dev.kakehashi.protocol.ErrorCode;
import dev.kakehashi.protocol.value.PgInterval;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/// A durable queue of the engine, used through one session.
///
/// Delivery is at least once; effects in the engine are exactly once, if the task is completed in the transaction that has them.
///
/// Leases end with the session, so tasks of a program that dies are lent again at once. Used by the session's thread; [#cancelWait()] may
/// come from any.
public final class TaskQueue implements AutoCloseable {
  private static final String OPTIONS =
      ", \"key\" => $3::text, fair => $4::text, priority => $5::int4, run_at => $6::timestamptz,"
          + " unique_key => $7::text, unique_for => $8::interval)";
  private static final String ENQUEUE = "SELECT enqueue($1::text, $2::jsonb" + OPTIONS;
  private static final String ENQUEUE_BYTES = "SELECT enqueue($1::text, $2::bytea" + OPTIONS;
  private static final String COLUMNS =
      "SELECT token, task_id, attempt, \"key\", fair, priority, payload, body, enqueued_at, lease_until, last_error FROM ";
  private static final String RECEIVE =
      COLUMNS
          + "receive($1::text, \"max\" => $2::int4, \"wait\" => $3::interval, lease => $4::interval, \"group\" => $5::text)";
  private static final String COMPLETE_AND_RECEIVE =
      COLUMNS
          + "complete_and_receive($6::text[], $1::text, \"max\" => $2::int4, \"wait\" => $3::interval, lease => $4::interval,"
          + " \"group\" => $5::text)";
  private static final String COMPLETE = "SELECT complete($1::text)";
  private static final String COMPLETE_ALL = "SELECT complete($1::text[])";
  private static final String FAIL =
      "SELECT fail($1::text, error => $2::text, retry_in => $3::interval)";
  private static final String RELEASE = "SELECT release($1::text)";
  private static final String EXTEND = "SELECT extend($1::text, lease => $2::interval)";
  private static final String CANCEL = "SELECT cancel_task($1::text, $2::int8)";

  /// A payload that is longer is refused anyway.
  private static final int MOST_BYTES = 16 << 20;

  /// For keys and what frames a row.
  private static final int ROOM_BYTES = 16 << 10;

  private final Session session;
  private final String name;
  private final @Nullable String group;
  private final @Nullable Duration lease;
  private final Map<String, PreparedStatement> statements;
  private volatile @Nullable Rows waiting;
  private volatile boolean isCanceled;

  TaskQueue(Session session, String name) {
    this(session, name, null, null, new HashMap<>());
  }

  private TaskQueue(
      Session session,
      String name,
      @Nullable String group,
      @Nullable Duration lease,
      Map<String, PreparedStatement> statements) {
    this.session = session;
    this.name = name;
    this.group = group;
    this.lease = lease;
    this.statements = statements;
  }

  /// The same queue for receivers of a subscription group.
  public TaskQueue group(String groupName) {
    return new TaskQueue(session, name, groupName, lease, statements);
  }

  /// The same queue for receivers that borrow tasks for another time than the queue's.
  public TaskQueue lease(Duration time) {
    return new TaskQueue(session, name, group, time, statements);
  }

  /// The same queue in another session.
  TaskQueue in(Session other) {
    return new TaskQueue(other, name, group, lease, new HashMap<>());
  }

  public String name() {
    return name;
  }

  Session session() {
    return session;
  }

  private PreparedStatement statement(String sql) {
    PreparedStatement known = statements.get(sql);
    if (known == null) {
      known = session.prepare(sql);
      statements.put(sql, known);
    }
    return known;
  }

  private Rows query(
      @Nullable Transaction transaction, PreparedStatement statement, Parameters parameters) {
    return transaction == null
        ? session.query(statement, parameters)
        : transaction.query(statement, parameters);
  }

  // ---- enqueue ----

  /// Makes a task with a JSON text; durable when this returns.
  ///
  /// @return its number
  public long enqueue(String json) {
    return enqueue(null, TaskDraft.ofJson(json));
  }

  /// Makes a task if the transaction commits.
  ///
  /// @param transaction null: one of its own
  /// @return its number
  public long enqueue(@Nullable Transaction transaction, TaskDraft task) {
    return enqueue(transaction, List.of(task)).getFirst();
  }

  /// Makes tasks, all of them or none.
  ///
  /// @param transaction null: one of their own
  /// @return their numbers
  public List<Long> enqueue(@Nullable Transaction transaction, List<TaskDraft> tasks) {
    List<Long> numbers = new ArrayList<>(tasks.size());
    int next = 0;
    if (transaction == null && !tasks.isEmpty()) {
      next = send(null, tasks, 0, numbers);
      if (next < tasks.size()) {
        try (Transaction own = session.begin()) {
          while (next < tasks.size()) {
            next = send(own, tasks, next, numbers);
          }
          own.commit();
        }
      }
    }
    while (next < tasks.size()) {
      next = send(transaction, tasks, next, numbers);
    }
    return numbers;
  }

  /// Sends tasks of one kind from one on, as many as fit into a request. Without a transaction all are sent, or none.
  ///
  /// @return the first one that was not sent
  private int send(
      @Nullable Transaction transaction, List<TaskDraft> tasks, int from, List<Long> numbers) {
    boolean isJson = tasks.get(from).json() != null;
    PreparedStatement statement = statement(isJson ? ENQUEUE : ENQUEUE_BYTES);
    Parameters rows = statement.parameters();
    int next = from;
    while (next < tasks.size()
        && (tasks.get(next).json() != null) == isJson
        && add(rows, tasks.get(next))) {
      next++;
    }
    if (next == from && transaction == null && tasks.size() > 1) {
      return from;
    }
    if (next == from) {
      sendLong(transaction, statement, tasks.get(from), numbers);
      return from + 1;
    }
    if (transaction == null && next < tasks.size()) {
      return from;
    }
    send(transaction, statement, rows, numbers);
    return next;
  }

  private void send(
      @Nullable Transaction transaction,
      PreparedStatement statement,
      Parameters rows,
      List<Long> numbers) {
    try (Rows result = query(transaction, statement, rows)) {
      while (result.next()) {
        numbers.add(result.getLong(0));
      }
    }
  }

  /// A task that is too long for the queue of requests goes through a buffer, which is given back.
  private void sendLong(
      @Nullable Transaction transaction,
      PreparedStatement statement,
      TaskDraft task,
      List<Long> numbers) {
    String json = task.json();
    byte[] bytes = task.bytes();
    int length =
        bytes != null
            ? bytes.length
            : Objects.requireNonNull(json).getBytes(StandardCharsets.UTF_8).length;
    if (session.hasBuffers() || length > MOST_BYTES) {
      throw EndpointException.of(
          ErrorCode.LIMIT_EXCEEDED, "a task of " + length + " bytes exceeds the longest request");
    }
    try {
      Parameters rows =
          session.acquireBuffers(1, length + ROOM_BYTES).parameters(0, statement, length);
      if (!add(rows, task)) {
        throw EndpointException.of(
            ErrorCode.LIMIT_EXCEEDED, "the keys of a task exceed the longest request");
      }
      send(transaction, statement, rows, numbers);
    } finally {
      if (session.isAlive()) {
        session.releaseBuffers();
      }
    }
  }

  private boolean add(Parameters rows, TaskDraft task) {
    return rows.tryAddRow(
        name,
        task.json() != null ? task.json() : task.bytes(),
        task.key(),
        task.fair(),
        task.priority(),
        task.runAt(),
        task.uniqueKey(),
        interval(task.uniqueFor()));
  }

  private static @Nullable PgInterval interval(@Nullable Duration time) {
    return time == null
        ? null
        : new PgInterval(0, 0, TimeUnit.NANOSECONDS.toMicros(time.toNanos()));
  }

  // ---- receive ----

  /// Takes a task, or waits for one.
  public Optional<QueueTask> receive(Duration wait) {
    List<QueueTask> tasks = receive(1, wait);
    return tasks.isEmpty() ? Optional.empty() : Optional.of(tasks.getFirst());
  }

  /// Takes tasks, or waits for a first one.
  ///
  /// @param max at most so many
  /// @return empty: none came in time, or [#cancelWait()] was called
  public List<QueueTask> receive(int max, Duration wait) {
    return take(RECEIVE, name, max, interval(wait), interval(lease), group);
  }

  /// Completes tasks and takes the next ones, durable together: one request, one flush. All are completed or none.
  ///
  /// @throws EndpointException 55K01: the lease of one is lost
  public List<QueueTask> completeAndReceive(List<QueueTask> done, int max, Duration wait) {
    return take(
        COMPLETE_AND_RECEIVE, name, max, interval(wait), interval(lease), group, tokens(done));
  }

  /// Tokens need no quotes in an array's text.
  private static String tokens(List<QueueTask> tasks) {
    StringBuilder text = new StringBuilder(64 * tasks.size() + 2).append('{');
    for (QueueTask task : tasks) {
      text.append(text.length() == 1 ? "" : ",").append(task.token());
    }
    return text.append('}').toString();
  }

  private List<QueueTask> take(String sql, @Nullable Object... values) {
    PreparedStatement statement = statement(sql);
    List<QueueTask> tasks = new ArrayList<>();
    long asked = System.nanoTime();
    try (Rows rows = session.query(statement, statement.parameters().addRow(values))) {
      waiting = rows;
      if (isCanceled) {
        rows.cancel();
      }
      while (rows.next()) {
        tasks.add(new QueueTask(this, rows, asked));
      }
    } catch (EndpointException e) {
      if (!isCanceled || !e.sqlstate().equals(ErrorCode.QUERY_CANCELED.sqlstate())) {
        throw e;
      }
    } finally {
      waiting = null;
    }
    return tasks;
  }

  /// Ends a wait for tasks, also one that has not begun yet. Any thread; later waits end at once, too.
  public void cancelWait() {
    isCanceled = true;
    Rows now = waiting;
    if (now != null) {
      now.cancel();
    }
  }

  // ---- the end of leases ----

  /// The tasks are done, all or none, if the transaction commits.
  ///
  /// @param transaction null: one of its own
  /// @throws EndpointException 55K01: the lease of one is lost
  public void complete(@Nullable Transaction transaction, List<QueueTask> tasks) {
    if (tasks.size() == 1) {
      call(transaction, tasks, COMPLETE, tasks.getFirst().token());
    } else if (!tasks.isEmpty()) {
      call(transaction, tasks, COMPLETE_ALL, tokens(tasks));
    }
  }

  void fail(QueueTask task, @Nullable String error, @Nullable Duration retryIn) {
    call(null, List.of(task), FAIL, task.token(), error, interval(retryIn));
  }

  void release(QueueTask task) {
    call(null, List.of(task), RELEASE, task.token());
  }

  void extend(QueueTask task, @Nullable Duration time) {
    PreparedStatement statement = statement(EXTEND);
    Parameters parameters =
        statement.parameters().addRow(task.token(), interval(time == null ? lease : time));
    try (Rows rows = session.query(statement, parameters)) {
      if (rows.next() && !rows.isNull(0)) {
        task.markExtended(rows.getTimestamptz(0));
      }
      rows.next();
    } catch (EndpointException e) {
      throw noted(e, List.of(task));
    }
  }

  /// Takes a task out of the queue that is not lent; false: there is none, or it is lent.
  ///
  /// @param transaction null: one of its own
  public boolean cancel(@Nullable Transaction transaction, long taskId) {
    PreparedStatement statement = statement(CANCEL);
    boolean canceled = false;
    try (Rows rows = query(transaction, statement, statement.parameters().addRow(name, taskId))) {
      while (rows.next()) {
        canceled = rows.getBoolean(0);
      }
    }
    return canceled;
  }

  private void call(
      @Nullable Transaction transaction,
      List<QueueTask> tasks,
      String sql,
      @Nullable Object... values) {
    PreparedStatement statement = statement(sql);
    try (Rows rows = query(transaction, statement, statement.parameters().addRow(values))) {
      while (rows.next()) {
        // One row, whose value says nothing that is not known.
      }
    } catch (EndpointException e) {
      throw noted(e, tasks);
    }
  }

  private static EndpointException noted(EndpointException failure, List<QueueTask> tasks) {
    if (tasks.size() == 1 && failure.sqlstate().equals(ErrorCode.LEASE_LOST.sqlstate())) {
      tasks.getFirst().markLost();
    }
    return failure;
  }

  // ---- consumers ----

  /// A consumer that takes tasks of this queue with sessions of its own.
  public Consumer consumer(ConsumerOptions options) {
    return new Consumer(this, options);
  }

  /// Gives the prepared statements back. The session stays.
  @Override
  public void close() {
    statements.values().forEach(PreparedStatement::close);
    statements.clear();
  }
}
