package dev.kakehashi.pgwire;

import dev.kakehashi.engine.api.BeginOptions;
import dev.kakehashi.engine.api.EngineException;
import dev.kakehashi.engine.api.EngineTransaction;
import dev.kakehashi.engine.api.ExecuteOptions;
import dev.kakehashi.engine.api.Execution;
import dev.kakehashi.engine.api.ParameterBatch;
import dev.kakehashi.engine.api.ResultSink;
import dev.kakehashi.engine.api.Statement;
import dev.kakehashi.engine.api.Viewer;
import dev.kakehashi.pgwire.catalog.Outcomes;
import dev.kakehashi.pgwire.pool.PooledConnection;
import dev.kakehashi.pgwire.wire.ServerError;
import dev.kakehashi.pgwire.wire.WireConnection;
import dev.kakehashi.pgwire.wire.WireException;
import dev.kakehashi.protocol.ErrorCode;
import dev.kakehashi.protocol.capability.Capability;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.function.BiConsumer;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/// A transaction of the server, on a connection that it has from its first statement to its end. What it does runs on its lane in the order of the calls.
///
/// Each statement but the first has a savepoint, because an error of PostgreSQL's ends the transaction and one of the interface does not. Savepoints travel with the next
/// statement.
final class PgWireTransaction implements EngineTransaction {
  private static final String GUARD = "kakehashi_statement";
  private static final int[] OUTCOME_TYPES = {20, 23, 20};

  private final PgWireEngine engine;
  private final long id;
  private final BeginOptions options;
  private final WireLane lane;
  private final @Nullable Future<?> expiry;

  private volatile State state = State.ACTIVE;
  private volatile @Nullable EngineException failure;

  /// Why it is about to be rolled back: nothing begins in it any more.
  private volatile @Nullable EngineException ending;

  private volatile boolean writes;
  private volatile boolean oneStatement;
  private volatile long reference;

  // ---- lane only ----

  private @Nullable PooledConnection held;
  private boolean begun;
  private boolean assumedReadOnly;
  private boolean mustWrite;
  private boolean repeated;
  private int operations;
  private @Nullable WireRun firstRun;
  private @Nullable WireRun guardOwner;
  private final Deque<String> pending = new ArrayDeque<>();
  private int depth;
  private final List<String> portalsToClose = new ArrayList<>();
  private final Set<WireRun> open = new LinkedHashSet<>();
  private long portals;
  private @Nullable String zone;
  private long lockMillis = -1;

  // ---- cancels: guarded by this lock ----

  private final Object cancels = new Object();
  private @Nullable WireRun active;
  private boolean canceling;

  PgWireTransaction(PgWireEngine engine, long id, BeginOptions options) {
    this.engine = engine;
    this.id = id;
    this.options = options;
    this.lane = new WireLane(engine.threads());
    this.expiry =
        options.timeoutNanos() == 0
            ? null
            : engine.timer().schedule(this::expire, options.timeoutNanos(), TimeUnit.NANOSECONDS);
  }

  @Override
  public long id() {
    return id;
  }

  @Override
  public void reference(long number) {
    reference = number;
  }

  @Override
  public void owner(Viewer viewer) {}

  @Override
  public void ofOneStatement() {
    oneStatement = true;
  }

  @Override
  public BeginOptions options() {
    return options;
  }

  @Override
  public State state() {
    return state;
  }

  @Override
  public @Nullable EngineException failure() {
    return failure;
  }

  @Override
  public boolean hasWrites() {
    return writes;
  }

  @Override
  public boolean hasUndurableReads() {
    return false;
  }

  // ---- statements ----

  Execution execute(
      PgWireStatement statement,
      ParameterBatch parameters,
      ExecuteOptions execute,
      ResultSink sink,
      BiConsumer<@Nullable Long, @Nullable EngineException> done) {
    if (execute.command() != 0) {
      throw EngineException.lacking(engine.capabilities(), Capability.COMMANDS);
    }
    if (statement.kind() != Statement.Kind.QUERY && options.kind() != BeginOptions.Kind.RTX) {
      writes = true;
    }
    if (statement.kind() == Statement.Kind.DDL) {
      statement.session().defines(this);
    }
    Future<?>[] timeout = new Future<?>[1];
    WireRun run =
        new WireRun(
            this,
            statement,
            parameters,
            execute,
            sink,
            execute.timeoutNanos() == 0
                ? done
                : (rows, failed) -> {
                  Future<?> timer = timeout[0];
                  if (timer != null) {
                    timer.cancel(false);
                  }
                  done.accept(rows, failed);
                });
    if (execute.timeoutNanos() != 0) {
      timeout[0] =
          engine
              .timer()
              .schedule(
                  () ->
                      run.cancel(
                          new EngineException(
                              ErrorCode.QUERY_CANCELED,
                              "canceling statement due to statement timeout")),
                  execute.timeoutNanos(),
                  TimeUnit.NANOSECONDS);
    }
    lane.add(() -> {
      open.add(run);
      run.start();
    });
    return run;
  }

  void resume(WireRun run) {
    lane.add(run::resume);
  }

  /// A statement was canceled: tells the server if it runs there, and its lane if it waits.
  void wakeCanceled(WireRun run) {
    synchronized (cancels) {
      PooledConnection connection = held;
      if (run.equals(active) && connection != null && !canceling) {
        canceling = true;
        engine.threads().execute(() -> tellServer(connection));
      }
    }
    lane.add(run::resume);
  }

  private void tellServer(PooledConnection connection) {
    try {
      connection.wire().cancel();
    } catch (WireException e) {
      engine.log().warn("a statement could not be canceled: {}", e.getMessage());
      connection.wire().breakOff(); // else it would run on
    } finally {
      synchronized (cancels) {
        canceling = false;
        cancels.notifyAll();
      }
    }
  }

  /// Why nothing can run in it any more; null: it is open. Lane only.
  @Nullable EngineException refusal() {
    EngineException reason = failure;
    if (reason == null) {
      reason = ending;
    }
    if (reason != null && (failure != null || state == State.ACTIVE)) {
      return reason;
    }
    return switch (state) {
      case ACTIVE -> null;
      case ABORTED ->
          new EngineException(ErrorCode.TRANSACTION_ABORTED, "the transaction was rolled back");
      case PREPARED, COMMITTED ->
          new EngineException(ErrorCode.NO_SUCH_TRANSACTION, "the transaction has ended");
    };
  }

  String newPortal() {
    return "kp" + portals++;
  }

  void closeLater(List<String> names) {
    portalsToClose.addAll(names);
  }

  void ended(WireRun run, List<String> openPortals) {
    open.remove(run);
    closeLater(openPortals);
  }

  /// A series for a statement, with all that has to come before it. Lane only.
  WireExchange exchange(WireRun run) {
    WireExchange exchange = exchange(run.statement().onlyReads());
    PgWireStatement statement = run.statement();
    String wanted = statement.session().timeZone();
    if (!wanted.equals(zone)) {
      exchange.command("SET LOCAL TIME ZONE " + PgWireSession.literal(wanted));
      zone = wanted;
    }
    long asked = run.options().lockTimeoutNanos();
    long lock =
        asked > 0 ? Math.max(1, TimeUnit.NANOSECONDS.toMillis(asked)) : engine.lockTimeoutMillis();
    if (lock != lockMillis) {
      exchange.command("SET LOCAL lock_timeout = " + lock);
      lockMillis = lock;
    }
    guard(exchange, run);
    return exchange;
  }

  private WireExchange exchange(boolean onlyReads) {
    PooledConnection connection = held;
    if (connection == null) {
      connection = engine.pool().acquire();
      synchronized (cancels) {
        held = connection;
      }
    }
    WireExchange exchange = new WireExchange(connection.wire());
    if (!begun) {
      exchange.command(beginText(onlyReads));
      begun = true;
      zone = engine.timeZone();
      lockMillis = engine.lockTimeoutMillis();
    }
    for (String portal : portalsToClose) {
      exchange.close(portal);
    }
    portalsToClose.clear();
    for (String command : pending) {
      exchange.command(command);
    }
    pending.clear();
    return exchange;
  }

  private String beginText(boolean onlyReads) {
    StringBuilder text = new StringBuilder("BEGIN ISOLATION LEVEL ");
    boolean snapshot =
        options.kind() == BeginOptions.Kind.RTX
            && options.isolation() == BeginOptions.Isolation.READ_COMMITTED;
    text.append(
        snapshot
            ? "REPEATABLE READ"
            : options.isolation().name().replace('_', ' ').toUpperCase(Locale.ROOT));
    assumedReadOnly =
        oneStatement
            && onlyReads
            && !mustWrite
            && options.kind() == BeginOptions.Kind.OCC
            && options.isolation() != BeginOptions.Isolation.SERIALIZABLE;
    if (options.kind() == BeginOptions.Kind.RTX || assumedReadOnly) {
      text.append(" READ ONLY");
    }
    if (options.deferrable() && options.kind() == BeginOptions.Kind.RTX) {
      text.append(" DEFERRABLE");
    }
    return text.toString();
  }

  /// Makes sure that an error of this statement undoes nothing else.
  private void guard(WireExchange exchange, WireRun run) {
    if (run.equals(guardOwner) || (run.equals(firstRun) && operations == 1)) {
      return;
    }
    if (operations == 0) {
      firstRun = run;
      operations = 1;
      return;
    }
    dropGuard(exchange);
    exchange.command("SAVEPOINT " + GUARD);
    guardOwner = run;
    operations++;
  }

  private void dropGuard(WireExchange exchange) {
    if (guardOwner != null) {
      exchange.command("RELEASE SAVEPOINT " + GUARD);
      guardOwner = null;
    }
  }

  /// Sends a series of a statement and takes its answers. Lane only.
  void run(WireExchange exchange, WireRun run) {
    PooledConnection connection = connection();
    synchronized (cancels) {
      active = run;
    }
    connection.wire().patience(() -> engine.waitOn(connection));
    try {
      exchange.run(run);
    } finally {
      connection.wire().patience(null);
      settle();
    }
  }

  /// Waits until a cancel on its way has arrived: it must not hit what runs next.
  private void settle() {
    boolean interrupted = false;
    synchronized (cancels) {
      active = null;
      while (canceling) {
        try {
          cancels.wait();
        } catch (InterruptedException e) {
          interrupted = true;
        }
      }
    }
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
  }

  private PooledConnection connection() {
    PooledConnection connection = held;
    if (connection == null) {
      throw new IllegalStateException("the transaction has no connection");
    }
    return connection;
  }

  /// Takes back what a statement has done. Lane only.
  void undo(WireRun run) {
    PooledConnection connection = held;
    if (connection == null || !begun) {
      return;
    }
    if (run.equals(guardOwner)) {
      guardOwner = null;
      zone = null;
      lockMillis = -1;
      new WireExchange(connection.wire())
          .command("ROLLBACK TO SAVEPOINT " + GUARD)
          .command("RELEASE SAVEPOINT " + GUARD)
          .run(WireExchange.NOBODY);
    } else if (run.equals(firstRun) && operations == 1) {
      begun = false;
      operations = 0;
      firstRun = null;
      portalsToClose.clear();
      new WireExchange(connection.wire()).command("ROLLBACK").run(WireExchange.NOBODY);
    }
    if (connection.wire().hasFailed()) {
      throw new WireException("the transaction has failed on the server");
    }
  }

  /// Whether a statement that was taken for one that only reads begins anew, because it writes. Lane only.
  boolean writesAfterAll(WireRun run, ServerError error) {
    if (!assumedReadOnly
        || mustWrite
        || run.hasStaged()
        || !error.sqlstate().equals(ErrorCode.READ_ONLY_TRANSACTION.sqlstate())) {
      return false;
    }
    mustWrite = true;
    writes = true;
    undo(run);
    return true;
  }

  /// Whether the first statement of a transaction begins anew on another connection: the one that the pool had kept may have been dead for long. Lane only.
  boolean mayRepeat(WireRun run, WireException cause) {
    boolean first = operations == 0 || (run.equals(firstRun) && operations == 1);
    if (!first || repeated || run.hasStaged() || run.hasEnded() || engine.isClosing()) {
      return false;
    }
    engine.log().info("a transaction begins anew: {}", cause.getMessage());
    repeated = true;
    dropConnection();
    begun = false;
    operations = 0;
    firstRun = null;
    return true;
  }

  /// A plan that the server keeps is no good any more. Lane only.
  void forget(PgWireStatement statement) {
    PooledConnection connection = held;
    if (connection != null) {
      connection.wire().statements().forget(statement.sql(), statement.parameterTypes());
    }
  }

  /// The connection is gone, and the transaction with it. Lane only.
  EngineException lost(RuntimeException cause) {
    EngineException reason = failure;
    if (reason == null) {
      reason = WireErrors.lost(cause);
      failure = reason;
    }
    state = State.ABORTED;
    dropConnection();
    leave();
    endOpen(reason);
    return reason;
  }

  private void dropConnection() {
    PooledConnection connection = held;
    synchronized (cancels) {
      held = null;
    }
    if (connection != null) {
      connection.wire().breakOff();
      engine.pool().release(connection);
    }
  }

  /// Gives the connection back, in no transaction.
  private void giveBack() {
    PooledConnection connection = held;
    synchronized (cancels) {
      held = null;
    }
    if (connection != null) {
      engine.pool().release(connection);
    }
  }

  private void endOpen(EngineException reason) {
    for (WireRun run : List.copyOf(open)) {
      run.end(null, reason);
    }
  }

  private void leave() {
    if (expiry != null) {
      expiry.cancel(false);
    }
    engine.left(this);
  }

  private static EngineException canceledByEnd() {
    return new EngineException(
        ErrorCode.QUERY_CANCELED, "canceling statement because its transaction goes on without it");
  }

  // ---- savepoints ----

  @Override
  public void savepoint(int level, Consumer<@Nullable EngineException> done) {
    lane.add(() -> {
      EngineException refusal = refusal();
      if (refusal == null) {
        if (level <= depth) {
          refusal =
              new EngineException(
                  ErrorCode.INVALID_PARAMETER_VALUE,
                  "savepoint level %d is not above the last one, %d".formatted(level, depth));
        } else {
          releaseGuardLater();
          while (depth < level) {
            depth++;
            pending.add("SAVEPOINT s" + depth);
          }
          operations++;
        }
      }
      done.accept(refusal);
    });
  }

  private void releaseGuardLater() {
    if (guardOwner != null) {
      pending.add("RELEASE SAVEPOINT " + GUARD);
      guardOwner = null;
    }
  }

  private @Nullable EngineException refusal(int level) {
    EngineException refusal = refusal();
    return refusal != null || (level >= 1 && level <= depth)
        ? refusal
        : new EngineException(
            ErrorCode.NO_SUCH_SAVEPOINT, "savepoint level " + level + " does not exist");
  }

  @Override
  public void releaseSavepoint(int level, Consumer<@Nullable EngineException> done) {
    lane.add(() -> {
      EngineException refusal = refusal(level);
      if (refusal == null) {
        releaseGuardLater();
        pending.add("RELEASE SAVEPOINT s" + level);
        depth = level - 1;
      }
      done.accept(refusal);
    });
  }

  @Override
  public void rollbackToSavepoint(int level, Consumer<@Nullable EngineException> done) {
    lane.add(() -> {
      EngineException refusal = refusal(level);
      if (refusal == null) {
        endOpen(canceledByEnd());
        depth = level;
        guardOwner = null;
        portalsToClose.clear();
        if (pending.contains("SAVEPOINT s" + level) && !begun) {
          done.accept(null); // nothing has happened since
          return;
        }
        try {
          WireExchange exchange = exchange(false);
          exchange.command("ROLLBACK TO SAVEPOINT s" + level);
          exchange.run(WireExchange.NOBODY);
          zone = null;
          lockMillis = -1;
        } catch (WireException e) {
          refusal = lost(e);
        } catch (ServerError e) {
          refusal = lost(e);
        } catch (EngineException e) {
          refusal = e;
        }
      }
      done.accept(refusal);
    });
  }

  // ---- ends ----

  @Override
  public void commit(CommitResponse response, Consumer<@Nullable EngineException> done) {
    lane.add(() -> done.accept(commitNow()));
  }

  private @Nullable EngineException commitNow() {
    if (state == State.COMMITTED) {
      return null;
    }
    EngineException refusal = refusal();
    if (refusal != null) {
      return refusal;
    }
    endOpen(canceledByEnd());
    PooledConnection connection = held;
    if (connection == null || !begun) {
      finish(State.COMMITTED);
      return null;
    }
    try {
      WireExchange exchange = new WireExchange(connection.wire());
      if (assumedReadOnly) {
        exchange.command("COMMIT").leave();
        finish(State.COMMITTED);
        return null;
      }
    } catch (WireException e) {
      // It has only read, and its rows are there.
      finish(State.COMMITTED);
      return null;
    }
    Outcomes.Row row = Outcomes.row(engine.endpoint(), reference, connection.slot(), id);
    try {
      WireExchange exchange = new WireExchange(connection.wire());
      if (writes) {
        writeOutcome(exchange, row);
      }
      exchange.command("COMMIT").run(WireExchange.NOBODY);
      finish(State.COMMITTED);
      return null;
    } catch (ServerError e) {
      return aborted(connection, WireErrors.of(e));
    } catch (WireException e) {
      return resolve(connection, row, e);
    }
  }

  private static void writeOutcome(WireExchange exchange, Outcomes.Row row) {
    String name = exchange.statement(Outcomes.WRITE, OUTCOME_TYPES, false);
    exchange
        .out()
        .begin('B')
        .put(0)
        .putText(name)
        .putShort(1)
        .putShort(1)
        .putShort(3)
        .putInt(8)
        .putLong(row.endpoint())
        .putInt(4)
        .putInt(row.place())
        .putInt(8)
        .putLong(row.reference())
        .putShort(0)
        .end();
    exchange.execute("", 0);
  }

  /// The server has refused the commit, or something before it in the series.
  private EngineException aborted(PooledConnection connection, EngineException reason) {
    failure = reason;
    try {
      if (!connection.wire().isIdle()) {
        new WireExchange(connection.wire()).command("ROLLBACK").run(WireExchange.NOBODY);
      }
    } catch (WireException | ServerError e) {
      connection.wire().breakOff();
    }
    finish(State.ABORTED);
    return reason;
  }

  /// The answer to the commit was lost: looks whether it has happened.
  private @Nullable EngineException resolve(
      PooledConnection lost, Outcomes.Row row, WireException cause) {
    dropConnection();
    if (options.kind() == BeginOptions.Kind.RTX) {
      finish(State.COMMITTED);
      return null;
    }
    EngineException unknown =
        new EngineException(
                ErrorCode.TRANSACTION_RESOLUTION_UNKNOWN,
                "the connection to the engine was lost during COMMIT: " + cause.getMessage())
            .withHint("The transaction may have committed or not.");
    if (!writes) {
      failure = unknown;
      finish(State.ABORTED);
      return unknown;
    }
    try {
      boolean committed = engine.committed(lost, row);
      EngineException reason = committed ? null : WireErrors.lost(cause);
      failure = reason;
      finish(committed ? State.COMMITTED : State.ABORTED);
      return reason;
    } catch (EngineException | WireException | ServerError e) {
      failure = unknown.withDetail("Its outcome could not be looked up: " + e.getMessage());
      finish(State.ABORTED);
      return unknown;
    }
  }

  private void finish(State end) {
    state = end;
    giveBack();
    leave();
  }

  @Override
  public void rollback(Runnable done) {
    stop(canceledByEnd());
    lane.add(() -> {
      rollbackNow(canceledByEnd());
      done.run();
    });
  }

  private void rollbackNow(EngineException reason) {
    if (state != State.ACTIVE) {
      return;
    }
    endOpen(reason);
    PooledConnection connection = held;
    if (connection != null && begun) {
      try {
        new WireExchange(connection.wire()).command("ROLLBACK").run(WireExchange.NOBODY);
      } catch (WireException | ServerError e) {
        engine
            .log()
            .info("a transaction was rolled back by the end of its connection: {}", e.getMessage());
        connection.wire().breakOff();
      }
    }
    finish(State.ABORTED);
  }

  private void expire() {
    EngineException reason =
        new EngineException(
            ErrorCode.TRANSACTION_TIMEOUT, "terminating transaction due to transaction timeout");
    end(reason);
  }

  /// Lets nothing begin in it any more, and cancels what runs. Any thread; a rollback follows.
  void stop(EngineException reason) {
    WireRun running;
    synchronized (cancels) {
      if (state != State.ACTIVE) {
        return;
      }
      if (ending == null) {
        ending = reason;
      }
      running = active;
    }
    if (running != null) {
      running.cancel(reason);
    }
  }

  /// Rolls it back for a reason of the engine's. Any thread.
  void end(EngineException reason) {
    stop(reason);
    lane.add(() -> {
      if (state == State.ACTIVE) {
        failure = reason;
        rollbackNow(reason);
      }
    });
  }

  /// First phase of a two-phase commit.
  ///
  /// @param globalId as the server is to know it
  /// @param prepared runs before `done` when it is prepared
  void prepare(String globalId, Runnable prepared, Consumer<@Nullable EngineException> done) {
    lane.add(() -> {
      EngineException refused = prepareNow(globalId);
      if (refused == null) {
        prepared.run();
      }
      done.accept(refused);
    });
  }

  private @Nullable EngineException prepareNow(String globalId) {
    EngineException refusal = refusal();
    if (refusal != null) {
      return refusal;
    }
    endOpen(canceledByEnd());
    PooledConnection connection = null;
    try {
      WireExchange exchange = exchange(false);
      connection = connection();
      exchange
          .command("PREPARE TRANSACTION " + PgWireSession.literal(globalId))
          .run(WireExchange.NOBODY);
      finish(State.PREPARED);
      return null;
    } catch (EngineException e) {
      failure = e;
      rollbackNow(e);
      return e;
    } catch (ServerError e) {
      return aborted(connection(), WireErrors.of(e));
    } catch (WireException e) {
      if (connection == null) {
        return lost(e);
      }
      return resolvePrepared(connection, globalId, e);
    }
  }

  private @Nullable EngineException resolvePrepared(
      PooledConnection lost, String globalId, WireException cause) {
    dropConnection();
    try {
      boolean prepared = engine.isPrepared(lost, globalId);
      EngineException reason = prepared ? null : WireErrors.lost(cause);
      failure = reason;
      finish(prepared ? State.PREPARED : State.ABORTED);
      return reason;
    } catch (EngineException | WireException | ServerError e) {
      EngineException unknown =
          new EngineException(
                  ErrorCode.TRANSACTION_RESOLUTION_UNKNOWN,
                  "the connection to the engine was lost during PREPARE TRANSACTION: "
                      + cause.getMessage())
              .withDetail("Its outcome could not be looked up: " + e.getMessage());
      failure = unknown;
      finish(State.ABORTED);
      return unknown;
    }
  }

  /// Runs something behind what was asked for before.
  void then(Runnable work) {
    lane.add(work);
  }

  long reference() {
    return reference;
  }

  /// Runs something on its connection, for a session that prepares statements within it. The connection is at rest then.
  void within(Consumer<WireConnection> work, Consumer<RuntimeException> refused) {
    lane.add(() -> {
      try {
        EngineException refusal = refusal();
        if (refusal != null) {
          throw refusal;
        }
        WireExchange exchange = exchange(false);
        releaseGuardLater();
        pending.forEach(exchange::command);
        pending.clear();
        operations++;
        exchange.command("SAVEPOINT " + GUARD).run(WireExchange.NOBODY);
        try {
          work.accept(connection().wire());
        } finally {
          new WireExchange(connection().wire())
              .command("ROLLBACK TO SAVEPOINT " + GUARD)
              .command("RELEASE SAVEPOINT " + GUARD)
              .run(WireExchange.NOBODY);
        }
      } catch (WireException e) {
        refused.accept(lost(e));
      } catch (ServerError | EngineException e) {
        refused.accept(e);
      }
    });
  }
}
