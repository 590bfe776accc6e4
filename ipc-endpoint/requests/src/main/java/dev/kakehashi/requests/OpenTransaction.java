package dev.kakehashi.requests;

import dev.kakehashi.engine.api.ClientActivity;
import dev.kakehashi.engine.api.EngineTransaction;
import dev.kakehashi.engine.api.ExecuteOptions;
import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.protocol.messages.TransactionState;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalLong;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/// A transaction with a handle.
///
/// The engine keeps its statements in order; this adds who may use it, and how long it lives. Poller only, unless said otherwise.
public final class OpenTransaction implements ClientActivity {
  private static final long TOLD_NANOS = 60_000_000_000L;

  private final long handle;
  private final EngineTransaction transaction;
  private final TransactionOwner owner;

  /// Whether it was begun to live by its lease alone: no session that leaves ends it.
  private final boolean livesByLease;

  private final long leaseNanos;

  /// Longest time since the last request that a statement at work may keep the transaction alive.
  private final long workNanos;

  private final List<ClientRequests> sessions = new ArrayList<>(1);
  private final List<Response> results =
      new ArrayList<>(1); // guarded by itself; responses that run
  private final AtomicInteger running = new AtomicInteger();
  private volatile long leaseDeadlineNanos;

  /// Why the endpoint has ended it: its lease, its idleness, an administrator; null: it has not. Written by the poller, once.
  private volatile @Nullable EngineException termination;

  private @Nullable SharedSavepoints savepoints; // null: it has had none
  private volatile boolean named;
  private boolean ending;

  /// Requests to end it that came while another ended it: they learn what that has done.
  private final List<Runnable> whenForgotten = new ArrayList<>(0);

  /// Only party so far that numbers its commands; null: nobody does.
  private @Nullable Object commandCounter;

  private int highestCommand; // of that one, unsigned
  private @Nullable CommandNumbers commands; // null: fewer than two number theirs
  private long consumedAtLastCheck;

  /// When its last request came. Written by the poller; others may read an older one, which only people see.
  private long lastUseNanos;

  /// When a look has found it idle for the first time since its last request; its beginning, if there was none. Written by the poller at
  /// each look, so no statement does it.
  private volatile long idleFromNanos;

  private long useAtLastLook;
  private boolean atWorkAtLastLook;

  /// @param workNanos at least `leaseNanos`
  OpenTransaction(
      long handle,
      EngineTransaction transaction,
      TransactionOwner owner,
      boolean livesByLease,
      long leaseNanos,
      long workNanos,
      long nowNanos) {
    this.handle = handle;
    this.transaction = transaction;
    this.owner = owner;
    this.livesByLease = livesByLease;
    this.leaseNanos = leaseNanos;
    this.workNanos = workNanos;
    this.lastUseNanos = nowNanos;
    this.useAtLastLook = nowNanos;
    this.idleFromNanos = nowNanos;
    this.leaseDeadlineNanos = nowNanos + leaseNanos;
  }

  /// Any thread.
  public long handle() {
    return handle;
  }

  /// Any thread.
  EngineTransaction engineTransaction() {
    return transaction;
  }

  TransactionOwner owner() {
    return owner;
  }

  /// Whether a session may use it by its handle: another user's handle counts as none.
  boolean admits(ClientRequests session) {
    return owner.admits(session.owner())
        || (owner.isSameUser(session.owner()) && sessions.contains(session));
  }

  /// By System.nanoTime(). Any thread.
  public long leaseDeadlineNanos() {
    return leaseDeadlineNanos;
  }

  /// Any thread.
  public TransactionState state() {
    return switch (transaction.state()) {
      case ACTIVE -> TransactionState.ACTIVE;
      case PREPARED -> TransactionState.PREPARED;
      case COMMITTED -> TransactionState.COMMITTED;
      case ABORTED -> TransactionState.ABORTED;
    };
  }

  /// A request of `session` continues the transaction: its lease begins anew, and it lives as long as the session at least.
  void use(ClientRequests session, long nowNanos) {
    lastUseNanos = nowNanos;
    leaseDeadlineNanos = nowNanos + leaseNanos;
    if (!sessions.contains(session)) {
      sessions.add(session);
      session.enters(this);
    }
  }

  /// Whether other sessions have used it, and this one has not.
  boolean isOthersThan(ClientRequests session) {
    return !sessions.isEmpty() && !sessions.contains(session);
  }

  /// Options of a statement of `session`, with its command numbered as one of the transaction's.
  ExecuteOptions numbered(ClientRequests session, ExecuteOptions options) {
    int command = options.command();
    if (command == 0) {
      return options;
    }
    Object counter = session.commandCounter();
    if (commands == null) {
      if (commandCounter == null || commandCounter.equals(counter)) {
        commandCounter = counter;
        if (Integer.compareUnsigned(command, highestCommand) > 0) {
          highestCommand = command;
        }
        return options;
      }
      commands = new CommandNumbers();
      commands.of(commandCounter, highestCommand, true);
    }
    return ExecuteOptions.of(
        options.newSnapshot(),
        options.timeoutNanos(),
        commands.of(counter, command, options.newSnapshot()),
        options.lockTimeoutNanos());
  }

  /// Somebody has asked for its token, and may hand it to others. Any thread.
  void named() {
    named = true;
  }

  /// Whether several may end it: the second one asks what the first has done, also if that has changed no row. Any thread.
  boolean isKnownToOthers() {
    return named || livesByLease;
  }

  /// Sessions that use it.
  List<ClientRequests> sessions() {
    return sessions;
  }

  /// The session is gone; true when it leaves nobody for whom the transaction lives, or takes it along.
  boolean leave(ClientRequests session) {
    sessions.remove(session);
    if (session.client().endsItsTransactions()) {
      return true;
    }
    if (savepoints != null) {
      savepoints.forget(session);
    }
    if (livesByLease || !session.holdsTransactions()) {
      return false;
    }
    for (ClientRequests other : sessions) {
      if (other.holdsTransactions()) {
        return false;
      }
    }
    return true;
  }

  /// The transaction has ended: sessions forget it, and its handle is of the past already.
  void forget() {
    for (ClientRequests session : sessions) {
      session.leaves(this);
    }
    sessions.clear();
    List<Runnable> waiting = List.copyOf(whenForgotten);
    whenForgotten.clear();
    waiting.forEach(Runnable::run);
  }

  /// Runs `action` when the transaction, which is ending, has been forgotten.
  void whenForgotten(Runnable action) {
    whenForgotten.add(action);
  }

  /// Whether its end has been asked for; true for the first caller.
  boolean beginEnd() {
    boolean first = !ending;
    ending = true;
    return first;
  }

  SharedSavepoints savepoints() {
    SharedSavepoints present = savepoints;
    if (present == null) {
      present = new SharedSavepoints();
      savepoints = present;
    }
    return present;
  }

  boolean isEnding() {
    return ending;
  }

  void requestBegins(Response response) {
    running.incrementAndGet();
    synchronized (results) {
      results.add(response);
    }
  }

  /// Any thread.
  void requestEnds(Response response) {
    synchronized (results) {
      results.remove(response);
    }
    running.decrementAndGet();
  }

  /// Why the endpoint has ended it; null: it has not. Any thread.
  @Nullable EngineException termination() {
    return termination;
  }

  boolean isTerminated() {
    return termination != null;
  }

  /// The endpoint ends it.
  void terminated(EngineException reason, long nowNanos) {
    termination = reason;
    leaseDeadlineNanos = nowNanos;
    ending = true;
  }

  /// Whether its handle, kept after that so that its clients are told, has been kept for long enough. A transaction that lives by its lease
  /// alone may have no client left.
  boolean isToldLongAgo(long nowNanos) {
    return isTerminated()
        && livesByLease
        && (sessions.isEmpty() || nowNanos - leaseDeadlineNanos >= TOLD_NANOS);
  }

  /// Decides at the end of the lease. Under the default lease a statement that works renews it, and so does a reader that has released a
  /// batch since the last look; a reader that does not read does not. A lease that the client asked for ends whatever runs.
  ///
  /// @return whether the lease is over
  boolean checkLease(long nowNanos) {
    if (nowNanos - leaseDeadlineNanos < 0) {
      return false;
    }
    boolean waitsForReader = false;
    long consumed = 0;
    synchronized (results) {
      for (Response response : results) {
        waitsForReader |= response.isWaiting();
        consumed += response.consumed();
      }
    }
    boolean progress = consumed != consumedAtLastCheck;
    consumedAtLastCheck = consumed;
    boolean works = running.get() > 0 && (!waitsForReader || progress);
    if (works && nowNanos - lastUseNanos < workNanos) {
      leaseDeadlineNanos = Math.min(nowNanos + leaseNanos, lastUseNanos + workNanos);
      return false;
    }
    return true;
  }

  /// Whether a statement of it runs. Any thread.
  boolean isAtWork() {
    return running.get() > 0;
  }

  /// Looks whether it is idle: nothing of it runs, is prepared or waits for its admission. Rows that a reader has not taken yet are work.
  ///
  /// @return since when, at most as long ago as the look before the one that has seen it so: never before it was; `nowNanos` if it is not
  long lookForIdleness(long nowNanos) {
    boolean works = isAtWork();
    for (ClientRequests session : sessions) {
      works |= session.isBlocked() && equals(session.shownTransaction());
    }
    if (works || atWorkAtLastLook || lastUseNanos != useAtLastLook) {
      idleFromNanos = nowNanos;
    }
    atWorkAtLastLook = works;
    useAtLastLook = lastUseNanos;
    return idleFromNanos;
  }

  /// Exact for one that has run nothing, else to a look, which comes each second.
  @Override
  public OptionalLong idleSinceNanos() {
    if (isAtWork()) {
      return OptionalLong.empty();
    }
    long idleFrom = idleFromNanos;
    long used = lastUseNanos;
    return OptionalLong.of(used - idleFrom > 0 ? used : idleFrom);
  }
}
