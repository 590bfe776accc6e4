package dev.kakehashi.sql;

import dev.kakehashi.engine.api.EngineTransaction;
import dev.kakehashi.protocol.messages.TransactionState;
import dev.kakehashi.transport.endpoint.ResponseChannel;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;

/// A transaction with a handle.
///
/// The engine keeps its statements in order; this adds who may use it, and how long it lives. Poller only, unless said otherwise.
final class OpenTransaction {
  private final long handle;
  private final EngineTransaction transaction;
  private final int uid;
  private final long leaseNanos;

  /// Longest time since the last request that a statement at work may keep the transaction alive.
  private final long workNanos;

  private final List<SqlSession> sessions = new ArrayList<>(1);
  private final List<ResponseChannel> results =
      new ArrayList<>(1); // guarded by itself; responses that run
  private final AtomicInteger running = new AtomicInteger();
  private volatile long leaseDeadlineNanos;
  private volatile boolean leaseExpired;
  private boolean ending;
  private long consumedAtLastCheck;
  private long lastUseNanos;

  /// @param workNanos at least `leaseNanos`
  OpenTransaction(
      long handle,
      EngineTransaction transaction,
      int uid,
      long leaseNanos,
      long workNanos,
      long nowNanos) {
    this.handle = handle;
    this.transaction = transaction;
    this.uid = uid;
    this.leaseNanos = leaseNanos;
    this.workNanos = workNanos;
    this.lastUseNanos = nowNanos;
    this.leaseDeadlineNanos = nowNanos + leaseNanos;
  }

  /// Any thread.
  long handle() {
    return handle;
  }

  /// Any thread.
  EngineTransaction engineTransaction() {
    return transaction;
  }

  int uid() {
    return uid;
  }

  /// Any thread.
  long leaseDeadlineNanos() {
    return leaseDeadlineNanos;
  }

  /// Any thread.
  TransactionState state() {
    return switch (transaction.state()) {
      case ACTIVE -> TransactionState.ACTIVE;
      case PREPARED -> TransactionState.PREPARED;
      case COMMITTED -> TransactionState.COMMITTED;
      case ABORTED -> TransactionState.ABORTED;
    };
  }

  /// A request of `session` continues the transaction: its lease begins anew, and it lives as long as the session at least.
  void use(SqlSession session, long nowNanos) {
    lastUseNanos = nowNanos;
    leaseDeadlineNanos = nowNanos + leaseNanos;
    if (!sessions.contains(session)) {
      sessions.add(session);
      session.enters(this);
    }
  }

  /// Sessions that use it.
  List<SqlSession> sessions() {
    return sessions;
  }

  /// The session is gone; true when no other one uses the transaction.
  boolean leave(SqlSession session) {
    sessions.remove(session);
    return sessions.isEmpty();
  }

  /// The transaction has ended: sessions forget it.
  void forget() {
    for (SqlSession session : sessions) {
      session.leaves(this);
    }
    sessions.clear();
  }

  /// Whether its end has been asked for; true for the first caller.
  boolean beginEnd() {
    boolean first = !ending;
    ending = true;
    return first;
  }

  boolean isEnding() {
    return ending;
  }

  void requestBegins(ResponseChannel channel) {
    running.incrementAndGet();
    synchronized (results) {
      results.add(channel);
    }
  }

  /// Any thread.
  void requestEnds(ResponseChannel channel) {
    synchronized (results) {
      results.remove(channel);
    }
    running.decrementAndGet();
  }

  boolean isLeaseExpired() {
    return leaseExpired;
  }

  /// Decides at the end of the lease. Under the default lease a statement that works renews it, and so does a reader that has released a batch since the last look; a
  /// reader that does not read does not. A lease that the client asked for ends whatever runs.
  ///
  /// @return whether the lease is over
  boolean checkLease(long nowNanos) {
    if (nowNanos - leaseDeadlineNanos < 0) {
      return false;
    }
    boolean waitsForReader = false;
    long consumed = 0;
    synchronized (results) {
      for (ResponseChannel channel : results) {
        waitsForReader |= channel.isWaiting();
        consumed += channel.consumed();
      }
    }
    boolean progress = consumed != consumedAtLastCheck;
    consumedAtLastCheck = consumed;
    boolean works = running.get() > 0 && (!waitsForReader || progress);
    if (works && nowNanos - lastUseNanos < workNanos) {
      leaseDeadlineNanos = Math.min(nowNanos + leaseNanos, lastUseNanos + workNanos);
      return false;
    }
    leaseExpired = true;
    return true;
  }
}
