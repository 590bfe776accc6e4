package dev.kakehashi.pgwire.pool;

import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.pgwire.wire.ServerAddress;
import dev.kakehashi.pgwire.wire.ServerError;
import dev.kakehashi.pgwire.wire.WireConnection;
import dev.kakehashi.pgwire.wire.WireErrors;
import dev.kakehashi.pgwire.wire.WireException;
import dev.kakehashi.pgwire.wire.WireSettings;
import dev.kakehashi.protocol.ErrorCode;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Connections to the one of several servers that takes writes. Thread-safe; [#acquire()] blocks.
///
/// A connection that broke makes all that were made before it suspect: they are not lent again. The next one looks for the server that
/// takes writes now.
public final class ConnectionPool implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(ConnectionPool.class);
  private static final long RETRY_MILLIS = 200;

  private static final String IDENTITY =
      "SELECT pg_catalog.pg_is_in_recovery(), a.backend_start FROM pg_catalog.pg_stat_activity a"
          + " WHERE a.pid = pg_catalog.pg_backend_pid()";

  /// Errors of a log-in that time does not mend.
  private static final Set<String> LASTING =
      Set.of(
          ErrorCode.INVALID_PASSWORD.sqlstate(),
          ErrorCode.AUTHENTICATION_FAILED.sqlstate(),
          ErrorCode.INSUFFICIENT_PRIVILEGE.sqlstate(),
          "3D000");

  private final List<ServerAddress> addresses;
  private final WireSettings settings;
  private final PoolLimits limits;
  private final ScheduledExecutorService timer;
  private final Semaphore permits;
  private final ReentrantLock searching = new ReentrantLock();

  // Guarded by this.
  private @Nullable Consumer<WireConnection> preparation;
  private final Deque<PooledConnection> idle = new ArrayDeque<>();
  private final Set<PooledConnection> lent = new HashSet<>();
  private long generation;
  private boolean closed;
  private @Nullable ServerAddress primary;
  private String lastFailure = "";

  /// @param addresses at least one
  public ConnectionPool(
      List<ServerAddress> addresses,
      WireSettings settings,
      PoolLimits limits,
      ScheduledExecutorService timer) {
    this.addresses = List.copyOf(addresses);
    this.settings = settings;
    this.limits = limits;
    this.timer = timer;
    this.permits = new Semaphore(limits.size(), true);
  }

  /// A connection that is in no transaction, to the server that takes writes. Waits for it up to the failover window.
  ///
  /// @throws EngineException CANNOT_CONNECT_NOW, TOO_MANY_SESSIONS, SHUTTING_DOWN, or why the server refuses
  public PooledConnection acquire() {
    long deadline = System.nanoTime() + limits.failoverWindow().toNanos();
    boolean permitted;
    try {
      permitted = permits.tryAcquire(limits.failoverWindow().toNanos(), TimeUnit.NANOSECONDS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new EngineException(ErrorCode.SHUTTING_DOWN, "the engine is shutting down", e);
    }
    if (!permitted) {
      throw new EngineException(
              ErrorCode.TOO_MANY_SESSIONS,
              "all " + limits.size() + " connections to the engine are in use")
          .withHint("Raise \"pgwire_connections\", or end transactions that are idle.");
    }
    boolean acquired = false;
    try {
      PooledConnection connection = takeIdle();
      if (connection == null) {
        connection = open(deadline);
      }
      acquired = true;
      return connection;
    } finally {
      if (!acquired) {
        permits.release();
      }
    }
  }

  private synchronized @Nullable PooledConnection takeIdle() {
    refuseClosed();
    while (true) {
      PooledConnection connection = idle.pollFirst();
      if (connection == null) {
        return null;
      }
      if (connection.generation() == generation && !connection.wire().isBroken()) {
        lent.add(connection);
        return connection;
      }
      drop(connection);
    }
  }

  private void refuseClosed() {
    if (closed) {
      throw new EngineException(ErrorCode.SHUTTING_DOWN, "the engine is shutting down");
    }
  }

  private synchronized void drop(PooledConnection connection) {
    lent.remove(connection);
    connection.wire().breakOff();
  }

  /// Gives a connection back. One that is broken or not at rest goes.
  public void release(PooledConnection connection) {
    boolean keep;
    synchronized (this) {
      boolean broken = connection.wire().isBroken();
      if (broken && connection.generation() == generation) {
        generation++;
      }
      keep = !broken && !closed && connection.generation() == generation;
      if (keep) {
        lent.remove(connection);
        idle.addFirst(connection);
      } else {
        lent.remove(connection);
      }
    }
    if (!keep) {
      connection.wire().close();
    }
    permits.release();
  }

  private PooledConnection open(long deadline) {
    ServerAddress first;
    synchronized (this) {
      first = primary;
    }
    if (first != null) {
      PooledConnection connection = tryOpen(first);
      if (connection != null) {
        return connection;
      }
    }
    return search(deadline);
  }

  /// Looks at all addresses again and again. One thread looks, the others wait for what it finds.
  private PooledConnection search(long deadline) {
    try {
      if (!searching.tryLock(Math.max(0, deadline - System.nanoTime()), TimeUnit.NANOSECONDS)) {
        throw unreachable();
      }
      try {
        while (true) {
          ServerAddress known;
          synchronized (this) {
            refuseClosed();
            known = primary;
          }
          List<ServerAddress> order = new ArrayList<>(addresses);
          if (known != null) {
            order.remove(known);
            order.addFirst(known);
          }
          for (ServerAddress address : order) {
            PooledConnection connection = tryOpen(address);
            if (connection != null) {
              return connection;
            }
          }
          if (deadline - System.nanoTime() < TimeUnit.MILLISECONDS.toNanos(RETRY_MILLIS)) {
            throw unreachable();
          }
          Thread.sleep(RETRY_MILLIS); // servers do not tell when they are back
        }
      } finally {
        searching.unlock();
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new EngineException(ErrorCode.SHUTTING_DOWN, "the engine is shutting down", e);
    }
  }

  private synchronized EngineException unreachable() {
    return new EngineException(
            ErrorCode.CANNOT_CONNECT_NOW,
            "no server that takes writes was found within "
                + limits.failoverWindow().toMillis()
                + " ms")
        .withDetail(lastFailure);
  }

  /// @return null: it cannot be reached, or takes no writes
  private @Nullable PooledConnection tryOpen(ServerAddress address) {
    WireConnection wire = null;
    boolean used = false;
    try {
      wire = WireConnection.open(address, settings, timer);
      List<@Nullable String> identity = wire.query(IDENTITY).getFirst();
      if (!"f".equals(identity.get(0))) {
        failed(address, "it takes no writes");
        return null;
      }
      prepare(wire, address);
      PooledConnection connection = admit(wire, address, String.valueOf(identity.get(1)));
      used = true;
      return connection;
    } catch (ServerError refused) {
      if (LASTING.contains(refused.sqlstate())) {
        throw WireErrors.of(refused).withDetail("The server is " + address + ".");
      }
      failed(address, String.valueOf(refused.getMessage()));
      return null;
    } catch (WireException e) {
      failed(address, String.valueOf(e.getMessage()));
      return null;
    } finally {
      if (wire != null && !used) {
        wire.close();
      }
    }
  }

  /// Sets what is done with the first connection to a server that is used in place of another one.
  public synchronized void preparing(Consumer<WireConnection> work) {
    preparation = work;
  }

  private void prepare(WireConnection wire, ServerAddress address) {
    Consumer<WireConnection> work;
    synchronized (this) {
      work = address.equals(primary) ? null : preparation;
    }
    if (work != null) {
      work.accept(wire);
    }
  }

  private synchronized PooledConnection admit(
      WireConnection wire, ServerAddress address, String began) {
    refuseClosed();
    if (!address.equals(primary)) {
      LOG.info("the engine's server is {}", address);
      primary = address;
    }
    PooledConnection connection =
        new PooledConnection(
            wire, generation, new PooledConnection.ServerProcess(wire.processId(), began));
    lent.add(connection);
    return connection;
  }

  private synchronized void failed(ServerAddress address, String why) {
    if (Thread.currentThread().isInterrupted()) {
      return; // whoever asked does not want it any more, which says nothing of the server
    }
    lastFailure = address + ": " + why;
    LOG.debug("{}: {}", address, why);
    if (address.equals(primary)) {
      LOG.warn("the engine's server {} cannot be used: {}", address, why);
      primary = null;
    }
  }

  /// Whether a server is still at work on what was sent on a connection; asked over another one. It is not if it waits for its standbys:
  /// the work is done then, and the look-up of an outcome waits for them as well.
  public boolean isAtWork(PooledConnection connection) {
    try (WireConnection other = WireConnection.open(connection.wire().address(), settings, timer)) {
      return !other
          .query(
              "SELECT 1 FROM pg_catalog.pg_stat_activity WHERE pid = "
                  + connection.serverProcess().number()
                  + " AND state NOT LIKE 'idle%' AND wait_event IS DISTINCT FROM 'SyncRep'")
          .isEmpty();
    } catch (ServerError | WireException | EngineException e) {
      LOG.warn("{} does not answer: {}", connection.wire().address(), e.getMessage());
      return false;
    }
  }

  /// How the connections are, for people: one line each.
  public synchronized List<String> describe() {
    List<String> lines = new ArrayList<>();
    for (ServerAddress address : addresses) {
      lines.add(address + (address.equals(primary) ? ": takes writes" : ": not in use"));
    }
    lines.add(
        "%d connections in use, %d idle, at most %d"
            .formatted(lent.size(), idle.size(), limits.size()));
    if (primary == null && !lastFailure.isEmpty()) {
      lines.add("last failure: " + lastFailure);
    }
    return lines;
  }

  /// Lends nothing any more, and breaks what is lent.
  @Override
  public void close() {
    List<PooledConnection> resting;
    List<PooledConnection> busy;
    synchronized (this) {
      closed = true;
      resting = new ArrayList<>(idle);
      idle.clear();
      busy = new ArrayList<>(lent);
    }
    resting.forEach(connection -> connection.wire().close());
    busy.forEach(connection -> connection.wire().breakOff());
  }
}
