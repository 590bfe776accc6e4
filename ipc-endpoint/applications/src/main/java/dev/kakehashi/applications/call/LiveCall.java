package dev.kakehashi.applications.call;

import dev.kakehashi.application.ApplicationProcess.Event;
import dev.kakehashi.application.Call;
import dev.kakehashi.application.EngineFailure;
import dev.kakehashi.application.Isolation;
import dev.kakehashi.application.TypedQueue;
import dev.kakehashi.application.TypedTable;
import dev.kakehashi.applications.define.IsolationName;
import dev.kakehashi.applications.table.DirectTypedQueue;
import dev.kakehashi.applications.table.DirectTypedTable;
import dev.kakehashi.applications.table.EngineBracket;
import dev.kakehashi.applications.table.QueryRows;
import dev.kakehashi.applications.table.Rethrown;
import dev.kakehashi.applications.table.SqlValues;
import dev.kakehashi.engine.api.application.ApplicationHost;
import dev.kakehashi.engine.api.application.ApplicationHost.DirectTransaction;
import dev.kakehashi.engine.api.application.DirectAccess;
import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.protocol.ErrorCode;
import java.time.Instant;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/// A call as users' code sees it: one for each transaction within it. Used by the call's thread, but for [#isCanceled].
@SuppressWarnings("NullAway") // results of users' code may be null: the type parameter is theirs
final class LiveCall implements Call, EngineBracket {
  private static final int RETRIES = 5;

  private final UserCall run;
  private final @Nullable DirectAccess access;
  private final Map<TableKey, DirectTypedTable<?>> tables = new HashMap<>(4);

  private record TableKey(String name, Class<?> row) {}

  /// @param access null: it has no transaction
  LiveCall(UserCall run, @Nullable DirectAccess access) {
    this.run = run;
    this.access = access;
  }

  @Override
  public <R extends @Nullable Object> R use(Use<R> body) {
    DirectAccess its = access();
    return run.use(its, () -> body.run(its));
  }

  private DirectAccess access() {
    if (access == null) {
      throw failure(
          ErrorCode.NO_SUCH_TRANSACTION,
          "the call has no transaction: it uses the engine within inTransaction");
    }
    return access;
  }

  private static EngineFailure failure(ErrorCode code, String message) {
    EngineException cause = new EngineException(code, message);
    return new EngineFailure(code.sqlstate(), message, cause);
  }

  @Override
  public long id() {
    return run.id();
  }

  @Override
  public String user() {
    return run.user();
  }

  @Override
  public Optional<Instant> deadline() {
    return Optional.of(Instant.now().plusNanos(run.deadlineNanos() - System.nanoTime()));
  }

  @Override
  public boolean isCanceled() {
    return run.isCanceled();
  }

  // ---- the engine ----

  @Override
  public <R extends Record> TypedTable<R> table(String name, Class<R> row) {
    TableKey key = new TableKey(name, row);
    DirectTypedTable<?> known = tables.get(key);
    if (known == null) {
      known = DirectTypedTable.open(this, name, run.environment.shapes().record(row));
      tables.put(key, known);
    }
    return cast(known);
  }

  /// Closes streams that the code has left open.
  void closeRows() {
    tables.values().forEach(DirectTypedTable::closeRows);
  }

  @SuppressWarnings("unchecked") // it was made with the shape of this class
  private static <R extends Record> TypedTable<R> cast(DirectTypedTable<?> table) {
    return (TypedTable<R>) table;
  }

  @Override
  public <T> TypedQueue<T> queue(String name, Class<T> payload) {
    access();
    return new DirectTypedQueue<>(this, name, run.environment.shapes().payload(payload));
  }

  @Override
  public <R> List<R> query(String sql, Class<R> row, @Nullable Object... parameters) {
    QueryRows<R> rows =
        new QueryRows<>(row, run.environment.shapes(), run.limits.maxRows(), run.limits.maxBytes());
    @Nullable Object[] values = SqlValues.ofAll(parameters);
    use(its -> its.execute(sql, values, rows));
    return rows.list();
  }

  @Override
  public long execute(String sql, @Nullable Object... parameters) {
    @Nullable Object[] values = SqlValues.ofAll(parameters);
    return use(its -> its.execute(sql, values, null));
  }

  @Override
  public <R> R savepoint(Supplier<R> body) {
    use(its -> {
      its.savepoint();
      return null;
    });
    R result;
    try {
      result = body.get();
    } catch (Throwable t) {
      if (!run.isCanceled()) {
        use(its -> {
          its.rollbackToSavepoint();
          return null;
        });
      }
      throw t;
    }
    use(its -> {
      its.releaseSavepoint();
      return null;
    });
    return result;
  }

  @Override
  public <R> R inTransaction(Isolation isolation, Function<Call, R> body) {
    try {
      return new PlatformTransactions(run, IsolationName.of(isolation), RETRIES)
          .run(call -> body.apply(call), false);
    } catch (Throwable t) {
      throw Rethrown.unchecked(t);
    }
  }

  @Override
  public <R> R inTransaction(String token, Function<Call, R> body) {
    ApplicationHost.JoinedAccess joined;
    try {
      joined = run.environment.host().join(run.user(), token);
    } catch (EngineException e) {
      throw new EngineFailure(e.sqlstate(), String.valueOf(e.getMessage()), e);
    }
    try (joined) {
      LiveCall call = new LiveCall(run, joined);
      return run.as(call, () -> body.apply(call));
    } catch (Throwable t) {
      throw Rethrown.unchecked(t);
    }
  }

  // ---- processes, log ----

  @Override
  public boolean send(long pid, Object message) {
    return run.environment.processes().send(pid, Event.data(0, message));
  }

  @Override
  public List<Long> processes(String name) {
    return run.environment.processes().pids(name);
  }

  @Override
  public void log(String message) {
    run.environment
        .failures()
        .journal()
        .log(
            run.environment.failures().application(),
            run.environment.failures().version(),
            run.id(),
            message);
  }

  /// Begins a transaction of the platform for a call.
  static LiveCall within(UserCall run, DirectTransaction transaction) {
    return new LiveCall(run, transaction);
  }
}
