package dev.kakehashi.pgwire;

import dev.kakehashi.engine.api.Backup;
import dev.kakehashi.engine.api.BeginOptions;
import dev.kakehashi.engine.api.ClientSession;
import dev.kakehashi.engine.api.Engine;
import dev.kakehashi.engine.api.EngineSession;
import dev.kakehashi.engine.api.EngineTransaction;
import dev.kakehashi.engine.api.PreparedTransaction;
import dev.kakehashi.engine.api.RecoveredOutcomes;
import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.engine.api.thread.BlockingExecutor;
import dev.kakehashi.pgwire.catalog.CatalogInstaller;
import dev.kakehashi.pgwire.catalog.OutcomePlaces;
import dev.kakehashi.pgwire.catalog.Outcomes;
import dev.kakehashi.pgwire.catalog.OutcomesTable;
import dev.kakehashi.pgwire.catalog.UndecidedParts;
import dev.kakehashi.pgwire.pool.ConnectionPool;
import dev.kakehashi.pgwire.pool.PooledConnection;
import dev.kakehashi.pgwire.wire.ServerError;
import dev.kakehashi.pgwire.wire.WireConnection;
import dev.kakehashi.pgwire.wire.WireErrors;
import dev.kakehashi.pgwire.wire.WireException;
import dev.kakehashi.protocol.ErrorCode;
import dev.kakehashi.protocol.capability.Capabilities;
import dev.kakehashi.protocol.capability.Capability;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// An engine that is a PostgreSQL, or a server that speaks its protocol and has its code: rows, transactions and SQL are the server's.
///
/// Blocking work runs on the engine's own threads, never on those of the caller. [#open] blocks.
public final class PgWireEngine implements Engine {
  /// As the setting `engine` has it.
  public static final String NAME = "pgwire";

  private static final Logger LOG = LoggerFactory.getLogger(PgWireEngine.class);

  /// How long an outcome is looked up that the server cannot say yet, and the pause between two looks.
  static final long RESOLVE_NANOS = TimeUnit.SECONDS.toNanos(30);

  static final long RETRY_MILLIS = 50;
  private static final long OLD_MICROS = 60_000_000;

  private final PgWireConfig config;

  /// As many as transactions have work at a time; one that has none for a minute ends. No virtual threads: their reads of sockets go
  /// through a poller of the JVM, which is a third of a select by key.
  private final ExecutorService threads =
      Executors.newCachedThreadPool(
          Thread.ofPlatform().daemon().name("kakehashi-pgwire-", 0).factory());

  private final ScheduledExecutorService timer = newTimer();
  private final ConnectionPool pool;
  private final ServerTwoPhase twoPhase = new ServerTwoPhase(this);
  private final AtomicLong numbers = new AtomicLong();
  private final Set<PgWireTransaction> open = new HashSet<>(); // guarded by itself
  private volatile boolean closing;
  private volatile PreparedTransaction.Listener listener = NOBODY;
  private @Nullable OutcomePlaces outcomePlaces; // set by begin
  private RecoveredOutcomes recovered = RecoveredOutcomes.NONE;
  private boolean sharded; // set by begin
  private boolean copiesRows; // set by begin
  private int fewestToGather = Integer.MAX_VALUE; // set by begin
  private Capabilities capabilities = Capabilities.everything(NAME);

  private static final PreparedTransaction.Listener NOBODY =
      new PreparedTransaction.Listener() {
        @Override
        public void prepared(PreparedTransaction transaction) {}

        @Override
        public void ended(PreparedTransaction transaction, boolean committed) {}
      };

  private static ScheduledExecutorService newTimer() {
    ScheduledThreadPoolExecutor timer =
        new ScheduledThreadPoolExecutor(
            1, Thread.ofPlatform().daemon().name("kakehashi-pgwire-timer").factory());
    timer.setRemoveOnCancelPolicy(true);
    return timer;
  }

  private PgWireEngine(PgWireConfig config) {
    this.config = config;
    this.pool = new ConnectionPool(config.addresses(), config.wire(), config.pool(), timer);
  }

  /// Connects, and makes the catalogue in the database if it is not there.
  ///
  /// @throws EngineException when the database cannot be used
  public static PgWireEngine open(PgWireConfig config) {
    PgWireEngine engine = new PgWireEngine(config);
    boolean opened = false;
    try {
      engine.withConnection(connection -> {
        engine.begin(connection);
        return true;
      });
      opened = true;
      return engine;
    } finally {
      if (!opened) {
        engine.close();
      }
    }
  }

  private void begin(WireConnection connection) {
    ServerFacts facts = ServerFacts.of(connection);
    capabilities = facts.capabilities(config.limits(), config.nodeIsolation());
    new CatalogInstaller(connection, facts.isSharded()).install(capabilities);
    OutcomesTable.check(connection, facts.isSharded());
    sharded = facts.isSharded();
    // YugabyteDB may commit in the midst of a COPY.
    copiesRows = !facts.yugabyte();
    LOG.info("{}", facts);
    if (sharded) {
      gatherFrom(LookupOfMany.FEWEST_ROWS);
      pool.preparing(node -> new CatalogInstaller(node, true).install(capabilities));
    }
    outcomePlaces = OutcomePlaces.of(connection, config.endpoint());
    boolean decided =
        !sharded
            || UndecidedParts.awaitDecided(
                connection, UndecidedParts.OF_ALL_NODES, Duration.ofNanos(RESOLVE_NANOS));
    recovered = Outcomes.recovered(connection, config.endpoint(), !facts.yugabyte(), decided);
  }

  // ---- for sessions and transactions ----

  ExecutorService threads() {
    return threads;
  }

  ScheduledExecutorService timer() {
    return timer;
  }

  ConnectionPool pool() {
    return pool;
  }

  Logger log() {
    return LOG;
  }

  String timeZone() {
    return config.wire().timeZone();
  }

  long lockTimeoutMillis() {
    return config.wire().lockTimeout().toMillis();
  }

  long failoverWindowNanos() {
    return config.pool().failoverWindow().toNanos();
  }

  OutcomePlaces outcomePlaces() {
    return Objects.requireNonNull(outcomePlaces, "the engine is not open");
  }

  /// Whether the server spreads its rows over nodes.
  boolean isSharded() {
    return sharded;
  }

  /// Rows of parameters from which on a look-up runs for all at once. A server that has its rows at hand is asked about each: it says the
  /// first rows sooner.
  int fewestToGather() {
    return fewestToGather;
  }

  /// Sets [#fewestToGather()].
  void gatherFrom(int rows) {
    fewestToGather = rows;
  }

  /// Whether rows in bulk may go by COPY.
  boolean copiesRows() {
    return copiesRows;
  }

  boolean isClosing() {
    return closing;
  }

  PreparedTransaction.Listener listener() {
    return listener;
  }

  /// Nothing has come of a statement for a while.
  ///
  /// @throws WireException when its server is not at work on it
  void waitOn(PooledConnection connection) {
    if (closing || !pool.isAtWork(connection)) {
      throw new WireException(
          "the server at " + connection.wire().address() + " is not at work on the statement");
    }
  }

  void left(PgWireTransaction transaction) {
    synchronized (open) {
      if (open.remove(transaction) && open.isEmpty()) {
        open.notifyAll();
      }
    }
  }

  /// Runs something on a connection of its own.
  ///
  /// @throws EngineException it cannot be done
  private <T> T withConnection(Function<WireConnection, T> work) {
    PooledConnection connection = pool.acquire();
    try {
      return work.apply(connection.wire());
    } catch (ServerError e) {
      throw WireErrors.of(e);
    } catch (WireException e) {
      throw new EngineException(
          ErrorCode.CONNECTION_FAILURE,
          "the connection to the engine was lost: " + e.getMessage(),
          e);
    } finally {
      pool.release(connection);
    }
  }

  /// Rows of a question, which is asked again if the connection that the pool had kept is dead.
  List<List<@Nullable String>> ask(String sql) {
    try {
      return withConnection(connection -> connection.query(sql));
    } catch (EngineException e) {
      if (e.code() != ErrorCode.CONNECTION_FAILURE) {
        throw e;
      }
      LOG.info("a question is asked again: {}", e.getMessage());
      return withConnection(connection -> connection.query(sql));
    }
  }

  /// Whether a transaction has committed whose connection was lost. Its process is told to end, because it may hold locks until it notices
  /// that nobody listens. That another server may have it, or that it takes its time, does not matter to the answer, see [Outcomes#settle].
  boolean committed(PooledConnection lost, Outcomes.Row row) {
    return resolved(connection -> {
      endProcess(connection, lost);
      return Outcomes.settle(connection, sharded, row);
    });
  }

  /// Whether a transaction has been prepared whose connection was lost. Its process has to be gone first.
  boolean isPrepared(PooledConnection lost, String gid) {
    return resolved(connection -> {
      long deadline = System.nanoTime() + RESOLVE_NANOS;
      while (endProcess(connection, lost)) {
        if (System.nanoTime() - deadline > 0) {
          throw new WireException("its process does not end");
        }
        Thread.sleep(RETRY_MILLIS); // the server tells nobody when a process has ended
      }
      return !connection
          .query(
              "SELECT 1 FROM pg_catalog.pg_prepared_xacts WHERE database = pg_catalog.current_database() AND gid = "
                  + PgWireSession.literal(gid))
          .isEmpty();
    });
  }

  /// Tells the process of a lost connection to end.
  ///
  /// @return whether it was there
  private static boolean endProcess(WireConnection connection, PooledConnection lost) {
    return !connection
        .query(
            "SELECT pg_catalog.pg_terminate_backend(a.pid) FROM pg_catalog.pg_stat_activity a WHERE a.pid = "
                + lost.serverProcess().number()
                + " AND a.backend_start = "
                + PgWireSession.literal(lost.serverProcess().began()))
        .isEmpty();
  }

  /// A question about what a lost connection has left.
  private interface Question<T> {
    T ask(WireConnection connection) throws InterruptedException;
  }

  private <T> T resolved(Question<T> question) {
    long deadline = System.nanoTime() + RESOLVE_NANOS;
    String reported = "";
    while (true) {
      PooledConnection connection = pool.acquire();
      try {
        return question.ask(connection.wire());
      } catch (WireException | ServerError e) {
        if (System.nanoTime() - deadline > 0) {
          throw e;
        }
        String why = String.valueOf(e.getMessage()).lines().findFirst().orElse("");
        if (!why.equals(reported)) {
          LOG.info("an outcome is looked up again: {}", why);
          reported = why;
        }
      } catch (InterruptedException e) {
        throw interrupted(e);
      } finally {
        pool.release(connection);
      }
      try {
        Thread.sleep(RETRY_MILLIS); // nobody tells when the server can answer
      } catch (InterruptedException e) {
        throw interrupted(e);
      }
    }
  }

  private static EngineException interrupted(InterruptedException e) {
    Thread.currentThread().interrupt();
    return new EngineException(ErrorCode.SHUTTING_DOWN, "the engine is shutting down", e);
  }

  // ---- two phases ----

  ServerTwoPhase twoPhase() {
    return twoPhase;
  }

  @Override
  public List<PreparedTransaction> preparedTransactions() {
    return twoPhase.all();
  }

  // ---- engine ----

  @Override
  public Capabilities capabilities() {
    return capabilities;
  }

  @Override
  public EngineSession openSession(String userName, String owner) {
    return new PgWireSession(this, userName, owner);
  }

  @Override
  public EngineTransaction begin(BeginOptions options) {
    require(options);
    PgWireTransaction transaction = new PgWireTransaction(this, numbers.incrementAndGet(), options);
    synchronized (open) {
      if (closing) {
        throw new EngineException(ErrorCode.SHUTTING_DOWN, "the engine is shutting down");
      }
      if (open.size() >= config.limits().transactions()) {
        throw new EngineException(
            ErrorCode.TOO_MANY_SESSIONS,
            "too many open transactions: the limit is " + config.limits().transactions());
      }
      open.add(transaction);
    }
    return transaction;
  }

  @Override
  public void preparedListener(PreparedTransaction.Listener newListener) {
    listener = newListener;
  }

  @Override
  public RecoveredOutcomes recoveredOutcomes() {
    return recovered;
  }

  /// Each commit is stored when it is reported.
  @Override
  public void whenAllDurable(Runnable done) {
    done.run();
  }

  /// The server shows its own sessions.
  @Override
  public void clientSessions(Supplier<List<ClientSession>> sessions) {}

  /// It has threads of its own.
  @Override
  public void blockingExecutor(BlockingExecutor executor) {}

  @Override
  public Backup backup() {
    throw EngineException.lacking(capabilities, Capability.BACKUP);
  }

  @Override
  public List<String> definitions() {
    throw EngineException.lacking(capabilities, Capability.DEFINITIONS);
  }

  @Override
  public List<String> health() {
    List<String> lines = new ArrayList<>(pool.describe());
    try {
      long now = (System.currentTimeMillis() - 946_684_800_000L) * 1000;
      List<PreparedTransaction> prepared = preparedTransactions();
      lines.add(prepared.size() + " undecided transactions");
      for (PreparedTransaction each : prepared) {
        long age = now - each.preparedMicros();
        if (age > OLD_MICROS) {
          lines.add(
              "warning: transaction \"%s\" is undecided for %d s"
                  .formatted(each.globalId(), age / 1_000_000));
        }
      }
    } catch (EngineException e) {
      lines.add("warning: " + e.getMessage());
    }
    return lines;
  }

  @Override
  public void close() {
    List<PgWireTransaction> left;
    synchronized (open) {
      closing = true;
      left = List.copyOf(open);
    }
    EngineException reason =
        new EngineException(ErrorCode.SHUTTING_DOWN, "the engine is shutting down");
    // All are stopped before the first gives up its locks, for which another one may wait.
    left.forEach(transaction -> transaction.stop(reason));
    left.forEach(transaction -> transaction.end(reason));
    awaitEnd();
    pool.close();
    threads.close();
    timer.shutdownNow();
  }

  private void awaitEnd() {
    long deadline = System.nanoTime() + config.wire().operationTimeout().toNanos();
    boolean interrupted = false;
    synchronized (open) {
      while (!open.isEmpty() && deadline - System.nanoTime() > 0) {
        try {
          open.wait(Math.max(1, TimeUnit.NANOSECONDS.toMillis(deadline - System.nanoTime())));
        } catch (InterruptedException e) {
          interrupted = true;
        }
      }
    }
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
  }
}
