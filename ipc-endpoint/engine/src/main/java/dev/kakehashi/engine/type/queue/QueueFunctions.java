package dev.kakehashi.engine.type.queue;

import static dev.kakehashi.protocol.TypeOid.BOOL;
import static dev.kakehashi.protocol.TypeOid.BYTEA;
import static dev.kakehashi.protocol.TypeOid.INT4;
import static dev.kakehashi.protocol.TypeOid.INT8;
import static dev.kakehashi.protocol.TypeOid.INTERVAL;
import static dev.kakehashi.protocol.TypeOid.JSONB;
import static dev.kakehashi.protocol.TypeOid.TEXT;
import static dev.kakehashi.protocol.TypeOid.TIMESTAMPTZ;

import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.engine.api.queue.LeasedTask;
import dev.kakehashi.engine.api.queue.NewTask;
import dev.kakehashi.engine.api.queue.Payload;
import dev.kakehashi.engine.type.FunctionContext;
import dev.kakehashi.engine.type.FunctionSet;
import dev.kakehashi.engine.type.RowFunction;
import dev.kakehashi.engine.type.RowFunction.Column;
import dev.kakehashi.engine.type.RowFunction.Rows;
import dev.kakehashi.engine.type.ScalarFunction;
import dev.kakehashi.engine.type.Varlena;
import dev.kakehashi.engine.type.array.ArrayTypes;
import dev.kakehashi.engine.vector.VarHeap;
import dev.kakehashi.protocol.ErrorCode;
import dev.kakehashi.protocol.TypeOid;
import dev.kakehashi.protocol.value.PgTime;
import java.util.List;
import java.util.Set;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/// `enqueue`, `receive` and their relatives.
public final class QueueFunctions {
  /// A payload may have that many bytes.
  public static final int MAX_PAYLOAD_BYTES = 1 << 20;

  /// Functions that are of the statement's transaction: their statement changes something.
  private static final Set<String> CHANGING =
      Set.of("enqueue", "complete", "fail", "release", "cancel_task");

  private static final int TEXT_ARRAY = TypeOid.arrayOf(TEXT);
  private static final long MICROS_PER_MILLI = 1000;

  /// Milliseconds from 1970 to PostgreSQL's epoch.
  private static final long EPOCH_MILLIS = 946_684_800_000L;

  private static final int KEY = 2;
  private static final int FAIR = 3;
  private static final int PRIORITY = 4;
  private static final int RUN_AT = 5;
  private static final int UNIQUE_KEY = 6;
  private static final int UNIQUE_FOR = 7;

  private static final List<Column> TASK =
      List.of(
          new Column("token", TEXT),
          new Column("task_id", INT8),
          new Column("attempt", INT4),
          new Column("key", TEXT),
          new Column("fair", TEXT),
          new Column("priority", INT4),
          new Column("payload", JSONB),
          new Column("body", BYTEA),
          new Column("enqueued_at", TIMESTAMPTZ),
          new Column("lease_until", TIMESTAMPTZ),
          new Column("last_error", TEXT));

  private QueueFunctions() {}

  /// Whether a call makes its statement one that changes something.
  public static boolean changes(String function) {
    return CHANGING.contains(function);
  }

  public static void register(FunctionSet set) {
    for (int payload : new int[] {JSONB, BYTEA}) {
      set.add(
          new ScalarFunction(
              "enqueue",
              new int[] {TEXT, payload, TEXT, TEXT, INT4, TIMESTAMPTZ, TEXT, INTERVAL},
              INT8,
              false,
              false,
              (a, nulls, c) -> enqueue(a, nulls, payload == JSONB, c)));
    }
    set.addStable(
        "complete",
        INT4,
        (a, _, c) -> {
          c.queues.complete(Varlena.string(a[0]));
          return 1;
        },
        TEXT);
    set.addStable("complete", INT4, (a, _, c) -> completeAll(a[0], c), TEXT_ARRAY);
    set.add(
        new ScalarFunction(
            "extend",
            new int[] {TEXT, INTERVAL},
            TIMESTAMPTZ,
            false,
            false,
            (a, nulls, c) -> {
              refuseNull(nulls, 0, "the token");
              long lease = isNull(nulls, 1) ? 0 : QueueDurations.millis("a lease", a[1]);
              return micros(c.queues.extend(Varlena.string(a[0]), lease));
            }));
    set.add(
        new ScalarFunction(
            "fail",
            new int[] {TEXT, TEXT, INTERVAL},
            BOOL,
            false,
            false,
            (a, nulls, c) -> {
              refuseNull(nulls, 0, "the token");
              c.queues.fail(
                  Varlena.string(a[0]),
                  isNull(nulls, 1) ? "" : Varlena.string(a[1]),
                  isNull(nulls, 2) ? -1 : QueueDurations.millis("retry_in", a[2]));
              return 1;
            }));
    set.addStable(
        "release",
        BOOL,
        (a, _, c) -> {
          c.queues.release(Varlena.string(a[0]));
          return 1;
        },
        TEXT);
    set.addStable(
        "cancel_task",
        BOOL,
        (a, _, c) -> c.queues.cancel(Varlena.string(a[0]), a[1]) ? 1 : 0,
        TEXT,
        INT8);
  }

  public static void register(Consumer<RowFunction> set) {
    int[] rest = {TEXT, INT4, INTERVAL, INTERVAL, TEXT, TEXT};
    set.accept(new RowFunction(ReceiveArguments.RECEIVE, rest, TASK, false, (_, c) -> rows(c)));
    int[] all = new int[rest.length + 1];
    all[0] = TEXT_ARRAY;
    System.arraycopy(rest, 0, all, 1, rest.length);
    set.accept(
        new RowFunction(
            ReceiveArguments.COMPLETE_AND_RECEIVE, all, TASK, false, (_, c) -> rows(c)));
  }

  // ---- arguments ----

  private static boolean isNull(long nulls, int argument) {
    return (nulls >>> argument & 1) != 0;
  }

  private static void refuseNull(long nulls, int argument, String what) {
    if (isNull(nulls, argument)) {
      throw new EngineException(ErrorCode.NULL_VALUE_NOT_ALLOWED, what + " must not be null");
    }
  }

  private static @Nullable String text(long[] a, long nulls, int argument) {
    return isNull(nulls, argument) ? null : Varlena.string(a[argument]);
  }

  /// A key, whose length counts in bytes.
  private static @Nullable String key(long[] a, long nulls, int argument, String what) {
    if (isNull(nulls, argument)) {
      return null;
    }
    int bytes = Varlena.length(a[argument]);
    if (bytes > NewTask.MAX_KEY_BYTES) {
      throw new EngineException(
          ErrorCode.LIMIT_EXCEEDED,
          "%s has %d bytes, the limit is %d".formatted(what, bytes, NewTask.MAX_KEY_BYTES));
    }
    return Varlena.string(a[argument]);
  }

  // ---- calls ----

  private static long enqueue(long[] a, long nulls, boolean json, FunctionContext c) {
    refuseNull(nulls, 0, "the name of the queue");
    refuseNull(nulls, 1, "the payload");
    int bytes = Varlena.length(a[1]);
    if (bytes > MAX_PAYLOAD_BYTES) {
      throw new EngineException(
          ErrorCode.LIMIT_EXCEEDED,
          "the payload has %d bytes, the limit is %d".formatted(bytes, MAX_PAYLOAD_BYTES));
    }
    long priority = isNull(nulls, PRIORITY) ? NewTask.DEFAULT_PRIORITY : a[PRIORITY];
    if (priority < 0 || priority > NewTask.MAX_PRIORITY) {
      throw new EngineException(
          ErrorCode.INVALID_PARAMETER_VALUE,
          "priority must be between 0 and " + NewTask.MAX_PRIORITY);
    }
    String uniqueKey = key(a, nulls, UNIQUE_KEY, "the unique key");
    if (uniqueKey == null && !isNull(nulls, UNIQUE_FOR)) {
      throw new EngineException(ErrorCode.INVALID_PARAMETER_VALUE, "unique_for needs a unique_key");
    }
    NewTask task =
        new NewTask(
            new Payload(json, Varlena.bytes(a[1])),
            key(a, nulls, KEY, "the key"),
            key(a, nulls, FAIR, "the fair key"),
            (int) priority,
            isNull(nulls, RUN_AT) ? 0 : runAt(a[RUN_AT]),
            uniqueKey,
            isNull(nulls, UNIQUE_FOR) ? 0 : QueueDurations.millis("unique_for", a[UNIQUE_FOR]));
    return c.queues.enqueue(String.valueOf(text(a, nulls, 0)), task);
  }

  private static long runAt(long micros) {
    if (micros == PgTime.TIMESTAMP_POSITIVE_INFINITY
        || micros == PgTime.TIMESTAMP_NEGATIVE_INFINITY) {
      throw new EngineException(ErrorCode.INVALID_PARAMETER_VALUE, "run_at must be finite");
    }
    return Math.max(0, Math.ceilDiv(micros, MICROS_PER_MILLI) + EPOCH_MILLIS);
  }

  private static long micros(long millisSince1970) {
    return (millisSince1970 - EPOCH_MILLIS) * MICROS_PER_MILLI;
  }

  private static long completeAll(long array, FunctionContext c) {
    List<@Nullable String> tokens = ArrayTypes.array(array).elements();
    for (String token : tokens) {
      if (token == null) {
        throw new EngineException(ErrorCode.NULL_VALUE_NOT_ALLOWED, "the token must not be null");
      }
      c.queues.complete(token);
    }
    return tokens.size();
  }

  private static Rows rows(FunctionContext context) {
    return Rows.of(context.queues.received(), QueueFunctions::write);
  }

  private static void write(LeasedTask task, long[] values, FunctionContext context) {
    VarHeap heap = context.heap;
    boolean json = task.payload().json();
    String key = task.key();
    String fair = task.fair();
    String error = task.lastError();
    values[0] = Varlena.of(heap, task.token().text());
    values[1] = task.taskId();
    values[2] = task.token().attempt();
    values[3] = key == null ? 0 : Varlena.of(heap, key);
    values[4] = fair == null ? 0 : Varlena.of(heap, fair);
    values[5] = task.priority();
    values[6] = json ? Varlena.of(heap, task.payload().bytes()) : 0;
    values[7] = json ? 0 : Varlena.of(heap, task.payload().bytes());
    values[8] = micros(task.enqueuedMillis());
    values[9] = micros(task.leaseEndMillis());
    values[10] = error == null ? 0 : Varlena.of(heap, error);
    context.nullColumns =
        (key == null ? 1L << 3 : 0)
            | (fair == null ? 1L << 4 : 0)
            | 1L << (json ? 7 : 6)
            | (error == null ? 1L << 10 : 0);
  }
}
