package dev.kakehashi.pgwire;

import dev.kakehashi.engine.api.BeginOptions;
import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.pgwire.catalog.Outcomes;
import dev.kakehashi.pgwire.pool.PooledConnection;
import dev.kakehashi.pgwire.wire.ServerError;
import dev.kakehashi.pgwire.wire.WireConnection;
import dev.kakehashi.pgwire.wire.WireErrors;
import dev.kakehashi.pgwire.wire.WireException;
import dev.kakehashi.protocol.ErrorCode;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/// The server's side of a transaction: its connection from the first statement to the end, and what the server knows of it.
///
/// Each statement but the first has a savepoint, because an error of PostgreSQL's ends the transaction and one of the interface does not.
/// Savepoints travel with the next statement.
///
/// For the lane of its transaction, except [#cancel] and [#ofOneStatement()]: any thread.
final class ServerTransaction {
  private static final String GUARD = "kakehashi_statement";

  /// A connection that was sound so short a time ago is taken to be so now.
  private static final long SOUND_NANOS = TimeUnit.SECONDS.toNanos(1);

  private final PgWireEngine engine;
  private final BeginOptions options;
  private final CancelPoint cancels;
  private volatile boolean oneStatement;

  private @Nullable PooledConnection held;
  private Outcomes.@Nullable Row place;
  private boolean begun;
  private boolean assumedReadOnly;
  private boolean mustWrite;
  private boolean repeated;
  private long waitEndNanos; // for a node that is away; 0: it has not waited
  private int operations;
  private @Nullable WireRun firstRun;
  private @Nullable WireRun guardOwner;
  private final Deque<String> pending = new ArrayDeque<>();
  private int depth;
  private final List<String> portalsToClose = new ArrayList<>();
  private long portals;
  private @Nullable String zone;
  private long lockMillis = -1;

  ServerTransaction(PgWireEngine engine, BeginOptions options) {
    this.engine = engine;
    this.options = options;
    this.cancels = new CancelPoint(engine);
  }

  /// It has one statement, and ends with it.
  void ofOneStatement() {
    oneStatement = true;
  }

  /// Cancels a statement if it runs or waits for a connection.
  ///
  /// @param run null: whatever runs
  /// @return the statement that was canceled; null: none
  @Nullable WireRun cancel(@Nullable WireRun run, EngineException reason) {
    return cancels.cancel(run, reason);
  }

  // ---- connection ----

  /// Its connection; null: it has none.
  @Nullable PooledConnection held() {
    return held;
  }

  PooledConnection connection() {
    PooledConnection connection = held;
    if (connection == null) {
      throw new IllegalStateException("the transaction has no connection");
    }
    return connection;
  }

  /// Whether the server knows of it.
  boolean isBegun() {
    return begun && held != null;
  }

  /// Whether it was begun as one that only reads, because its only statement looks like that.
  boolean isAssumedReadOnly() {
    return assumedReadOnly;
  }

  /// Breaks the connection.
  void drop() {
    PooledConnection connection = held;
    held = null;
    if (connection != null) {
      connection.wire().breakOff();
      engine.pool().release(connection);
    }
  }

  /// Gives the connection back, which is in no transaction any more.
  void giveBack() {
    PooledConnection connection = held;
    held = null;
    if (connection != null) {
      engine.pool().release(connection);
    }
  }

  /// Row that the transaction writes when it commits.
  ///
  /// @param reference see [dev.kakehashi.engine.api.EngineTransaction#reference(long)]; 0: none
  Outcomes.Row outcome(long reference) {
    Outcomes.Row own = place;
    return reference == 0 && own != null ? own : engine.outcomePlaces().take(reference);
  }

  /// Its outcome is known, or nobody asks any more.
  void leavePlace() {
    Outcomes.Row own = place;
    place = null;
    if (own != null) {
      engine.outcomePlaces().give(own);
    }
  }

  // ---- statements ----

  String newPortal() {
    return "kp" + portals++;
  }

  void closeLater(List<String> names) {
    portalsToClose.addAll(names);
  }

  /// A series for a statement, with all that has to come before it.
  ///
  /// @throws EngineException there is no connection, or the statement was canceled while it waited for one
  WireExchange exchange(WireRun run) {
    PgWireStatement statement = run.statement();
    WireExchange exchange = exchange(run, statement.onlyReads());
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

  /// A series for what is no statement.
  WireExchange exchange() {
    return exchange(null, false);
  }

  private WireExchange exchange(@Nullable WireRun run, boolean onlyReads) {
    PooledConnection connection = held;
    if (connection == null) {
      connection = cancels.acquire(run);
      held = connection;
    }
    WireExchange exchange = new WireExchange(connection.wire());
    if (!begun) {
      exchange.command(beginText(onlyReads));
      if (place == null && !assumedReadOnly && options.kind() != BeginOptions.Kind.RTX) {
        // Before its snapshot: in one that is older than the last change of the row it could not
        // write there.
        place = engine.outcomePlaces().take(0);
      }
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
    if (run.equals(guardOwner) || isFirst(run)) {
      return;
    }
    if (operations == 0) {
      firstRun = run;
      operations = 1;
      return;
    }
    if (guardOwner != null) {
      exchange.command("RELEASE SAVEPOINT " + GUARD);
    }
    exchange.command("SAVEPOINT " + GUARD);
    guardOwner = run;
    operations++;
  }

  /// Whether nothing but this statement has run.
  private boolean isFirst(WireRun run) {
    return run.equals(firstRun) && operations == 1;
  }

  /// Whether the end of the transaction may travel with a statement, which is its only one. When the connection breaks then, the statement
  /// does not begin anew.
  boolean endsWith(WireRun run) {
    return oneStatement
        && isFirst(run)
        && depth == 0
        && options.kind() != BeginOptions.Kind.RTX
        && connection().wire().wasAnsweredWithin(SOUND_NANOS);
  }

  /// Sends a series of a statement and takes its answers.
  void run(WireExchange exchange, WireRun run) {
    run(exchange, run, run);
  }

  /// The same with another receiver of the answers.
  void run(WireExchange exchange, WireRun run, WireExchange.Taker taker) {
    PooledConnection connection = connection();
    cancels.begin(run, connection);
    connection.wire().patience(() -> engine.waitOn(connection));
    try {
      exchange.run(taker);
    } finally {
      connection.wire().patience(null);
      cancels.end();
    }
  }

  /// Takes back what a statement has done.
  void undo(WireRun run) {
    PooledConnection connection = held;
    if (connection == null || !begun) {
      return;
    }
    if (run.equals(guardOwner)) {
      guardOwner = null;
      forgetSettings();
      new WireExchange(connection.wire())
          .command("ROLLBACK TO SAVEPOINT " + GUARD)
          .command("RELEASE SAVEPOINT " + GUARD)
          .run(WireExchange.NOBODY);
    } else if (isFirst(run)) {
      beginAnew();
      portalsToClose.clear();
      new WireExchange(connection.wire()).command("ROLLBACK").run(WireExchange.NOBODY);
    }
    if (connection.wire().hasFailed()) {
      throw new WireException("the transaction has failed on the server");
    }
  }

  private void forgetSettings() {
    zone = null;
    lockMillis = -1;
  }

  private void beginAnew() {
    begun = false;
    operations = 0;
    firstRun = null;
  }

  /// Whether a statement that was taken for one that only reads begins anew, because it writes.
  boolean writesAfterAll(WireRun run, ServerError error) {
    if (!assumedReadOnly
        || mustWrite
        || run.hasStaged()
        || !error.sqlstate().equals(ErrorCode.READ_ONLY_TRANSACTION.sqlstate())) {
      return false;
    }
    mustWrite = true;
    undo(run);
    return true;
  }

  /// Whether the first statement of a transaction begins anew on another connection: the one that the pool had kept may have been dead for
  /// long.
  boolean mayRepeat(WireRun run, WireException cause) {
    boolean first = operations == 0 || isFirst(run);
    if (!first || repeated || run.hasStaged() || run.hasEnded() || engine.isClosing()) {
      return false;
    }
    engine.log().info("a transaction begins anew: {}", cause.getMessage());
    repeated = true;
    drop();
    beginAnew();
    return true;
  }

  /// Whether the first statement of a transaction is tried again, because a node of the server is away. It may come back within the window
  /// in which a server is looked for. Pauses before.
  boolean waitsForNode(WireRun run, ServerError error) {
    if (!WireErrors.isOfNode(error) || !isFirst(run) || run.hasStaged() || engine.isClosing()) {
      return false;
    }
    long now = System.nanoTime();
    if (waitEndNanos == 0) {
      waitEndNanos = now + engine.failoverWindowNanos();
      engine.log().info("a transaction waits for a node: {}", error.getMessage());
    }
    if (now - waitEndNanos >= 0) {
      return false;
    }
    undo(run);
    giveBack(); // others may need no node that is away
    try {
      Thread.sleep(PgWireEngine.RETRY_MILLIS); // the server does not tell when a node is back
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return false;
    }
    return true;
  }

  /// A plan that the server keeps is no good any more.
  void forget(PgWireStatement statement, String preparedIn) {
    PooledConnection connection = held;
    if (connection != null) {
      connection
          .wire()
          .statements()
          .forget(statement.sql(), statement.parameterTypes(), preparedIn);
    }
  }

  // ---- savepoints ----

  /// The time zone of what comes next; empty: not known.
  String zone() {
    String known = zone;
    return known == null ? "" : known;
  }

  /// The last level.
  int depth() {
    return depth;
  }

  /// Sets all levels up to one.
  void savepoint(int level) {
    releaseGuardLater();
    while (depth < level) {
      depth++;
      pending.add("SAVEPOINT s" + depth);
    }
    operations++;
  }

  void releaseSavepoint(int level) {
    releaseGuardLater();
    pending.add("RELEASE SAVEPOINT s" + level);
    depth = level - 1;
  }

  void rollbackToSavepoint(int level) {
    depth = level;
    guardOwner = null;
    portalsToClose.clear();
    if (pending.contains("SAVEPOINT s" + level) && !begun) {
      return; // nothing has happened since
    }
    exchange().command("ROLLBACK TO SAVEPOINT s" + level).run(WireExchange.NOBODY);
    forgetSettings();
  }

  private void releaseGuardLater() {
    if (guardOwner != null) {
      pending.add("RELEASE SAVEPOINT " + GUARD);
      guardOwner = null;
    }
  }

  /// Runs something on the connection that leaves nothing behind in the transaction, not even its failure.
  void within(Consumer<WireConnection> work) {
    WireExchange exchange = exchange();
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
  }
}
