package dev.kakehashi.rest.sql;

import dev.kakehashi.engine.api.Statement;
import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.requests.RequestSession;
import dev.kakehashi.requests.RequestUser;
import dev.kakehashi.requests.Requests;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/// Sessions of HTTP's users: one for each request that runs, kept for the user's next one with the statements it has prepared. Thread-safe.
///
/// Bounded: as many as there are requests at once, and [#KEPT] that are idle for each user, for [#IDLE_NANOS].
final class SessionPool implements AutoCloseable {
  private static final int KEPT = 16;
  private static final int STATEMENTS = 64;
  private static final String COPY = "copy ";
  private static final String CALL = "call ";
  private static final int LONGEST_KEPT = 16_384;
  static final long IDLE_NANOS = 30_000_000_000L;

  private final Requests requests;
  private final Map<RequestUser, ArrayDeque<Lease>> idle = new HashMap<>(); // guarded by this
  private boolean closed; // guarded by this
  private boolean sweeps; // guarded by this: a sweep will come

  SessionPool(Requests requests) {
    this.requests = requests;
  }

  /// A session for one request; the request's thread alone uses it, until it is given back.
  final class Lease implements AutoCloseable {
    private final RequestSession session;
    private long idleSinceNanos;
    private boolean broken;

    /// The least recently used goes first.
    private final LinkedHashMap<String, Statement> statements =
        new LinkedHashMap<>(16, 0.75f, true) {
          private static final long serialVersionUID = 1L;

          @Override
          protected boolean removeEldestEntry(Map.Entry<String, Statement> eldest) {
            return size() > STATEMENTS;
          }
        };

    Lease(RequestSession session) {
      this.session = session;
    }

    RequestSession session() {
      return session;
    }

    /// A statement that was prepared in this session; null: none of this text.
    @Nullable Statement known(String sql) {
      return statements.get(sql);
    }

    /// Keeps a statement for the next time. Definitions are not worth it, nor is COPY, whose texts name files. The result of CALL changes
    /// with its application, see [#keepAs].
    void keep(String sql, Statement statement) {
      if (statement.kind() != Statement.Kind.DDL
          && sql.length() <= LONGEST_KEPT
          && !sql.regionMatches(true, 0, COPY, 0, COPY.length())
          && !sql.regionMatches(true, 0, CALL, 0, CALL.length())) {
        statements.put(sql, statement);
      }
    }

    /// A statement that [#keepAs] was given; null: none.
    @Nullable Statement knownAs(String name) {
      return statements.get(name);
    }

    /// Keeps a statement whose text does not say all that it depends on.
    ///
    /// @param name no text of a statement
    void keepAs(String name, Statement statement) {
      statements.put(name, statement);
    }

    /// A kept statement is of no use any more.
    void forget(String name) {
      statements.remove(name);
    }

    /// Prepares a statement, or finds it. Waits for that.
    ///
    /// @param timeoutNanos after which it is canceled; 0: never
    /// @param running told how to cancel it
    /// @throws EngineException why it cannot be prepared
    Statement prepare(String sql, long timeoutNanos, Consumer<RequestSession.Cancelable> running)
        throws InterruptedException {
      Statement known = known(sql);
      if (known != null) {
        return known;
      }
      Preparation preparation = new Preparation();
      RequestSession.Cancelable planning =
          session.prepare(sql, SqlService.INFERRED, preparation::ended);
      running.accept(planning);
      Statement statement = preparation.await(timeoutNanos, planning);
      keep(sql, statement);
      return statement;
    }

    /// The session cannot be used again: something of it still runs.
    void discard() {
      broken = true;
    }

    @Override
    public void close() {
      giveBack(this);
    }
  }

  private static final class Preparation {
    private final CountDownLatch done = new CountDownLatch(1);
    private @Nullable Statement statement; // written before the latch opens
    private @Nullable EngineException failure;

    void ended(@Nullable Statement prepared, @Nullable EngineException why) {
      statement = prepared;
      failure = why;
      done.countDown();
    }

    Statement await(long timeoutNanos, RequestSession.Cancelable planning)
        throws InterruptedException {
      if (timeoutNanos > 0 && !done.await(timeoutNanos, TimeUnit.NANOSECONDS)) {
        planning.cancel();
      }
      done.await();
      if (failure != null) {
        throw failure;
      }
      return java.util.Objects.requireNonNull(statement);
    }
  }

  /// @throws EngineException OUT_OF_SLOTS, SHUTTING_DOWN
  Lease lease(RequestUser user) {
    synchronized (this) {
      ArrayDeque<Lease> own = idle.get(user);
      Lease kept = own == null ? null : own.pollLast();
      if (kept != null) {
        return kept;
      }
    }
    return new Lease(requests.open(user, "http", ""));
  }

  private void giveBack(Lease lease) {
    long now = System.nanoTime();
    boolean kept = false;
    synchronized (this) {
      if (!closed && !lease.broken) {
        ArrayDeque<Lease> own =
            idle.computeIfAbsent(lease.session.user(), user -> new ArrayDeque<>());
        if (own.size() < KEPT) {
          lease.idleSinceNanos = now;
          own.addLast(lease);
          kept = true;
        }
      }
    }
    if (kept) {
      sweepLater();
    } else {
      lease.session.close();
    }
  }

  /// As long as there are idle sessions one sweep is on its way.
  private void sweepLater() {
    synchronized (this) {
      if (sweeps || closed || idle.isEmpty()) {
        return;
      }
      sweeps = true;
    }
    CompletableFuture.delayedExecutor(IDLE_NANOS, TimeUnit.NANOSECONDS)
        .execute(() -> {
          synchronized (this) {
            sweeps = false;
          }
          sweep(System.nanoTime());
          sweepLater();
        });
  }

  /// Closes what has been idle for long.
  private void sweep(long nowNanos) {
    List<Lease> old = new ArrayList<>();
    synchronized (this) {
      idle.values()
          .removeIf(own -> {
            while (!own.isEmpty() && nowNanos - own.peekFirst().idleSinceNanos > IDLE_NANOS) {
              old.add(own.pollFirst());
            }
            return own.isEmpty();
          });
    }
    old.forEach(lease -> lease.session.close());
  }

  @Override
  public void close() {
    List<Lease> all = new ArrayList<>();
    synchronized (this) {
      closed = true;
      idle.values().forEach(all::addAll);
      idle.clear();
    }
    all.forEach(lease -> lease.session.close());
  }
}
