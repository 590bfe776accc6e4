package dev.kakehashi.requests;

import dev.kakehashi.engine.api.EngineSession;
import dev.kakehashi.engine.api.Planning;
import dev.kakehashi.engine.api.Viewer;
import dev.kakehashi.scheduler.Admission;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/// The requests of one session: what runs, what waits, and which transactions it uses. Poller only, unless said otherwise.
///
/// Order: while one of its statements is being prepared, or an execution waits for its admission, what follows waits in that order
/// ([#isBlocked()]); cancels overtake.
public final class ClientRequests {
  private final RequestClient client;
  private final TransactionOwner owner;
  private final boolean holdsTransactions;

  /// Identity of the party that counts the commands of its statements: the process, which may have several sessions.
  private final Object commandCounter;

  private final EngineSession engineSession;
  private final @Nullable Admission admission;
  private final ArrayDeque<DeferredRequest> deferred = new ArrayDeque<>();
  private final List<OpenTransaction> transactions = new ArrayList<>(1);
  private final ExecutionList running = new ExecutionList();
  // The one that it has begun or joined last: written by the poller, for people.
  private final AtomicReference<@Nullable OpenTransaction> shown = new AtomicReference<>();
  private volatile Viewer viewer; // written by the poller, for people
  private long lastTransaction;
  private boolean preparing;
  private long preparingRequest;
  private volatile @Nullable Preparing planned; // written by the poller, for people
  private @Nullable Planning planning;
  private boolean limited;
  private boolean closed;

  /// @param holdsTransactions whether transactions that it has begun end with it, unless another such session uses them; else they live by
  ///     their lease alone
  /// @param admission of its executions; null: unlimited
  ClientRequests(
      RequestClient client,
      boolean holdsTransactions,
      EngineSession engineSession,
      @Nullable Admission admission) {
    this.client = client;
    this.owner = TransactionOwner.of(client);
    this.holdsTransactions = holdsTransactions;
    this.commandCounter =
        client.processId() == 0
            ? client.id()
            : new ClientProcess(client.pidNamespace(), client.processId());
    this.engineSession = engineSession;
    this.admission = admission;
    this.viewer = client.firstViewer();
    engineSession.viewer(viewer);
  }

  private record ClientProcess(long namespace, long id) {}

  /// Any thread.
  public RequestClient client() {
    return client;
  }

  TransactionOwner owner() {
    return owner;
  }

  Object commandCounter() {
    return commandCounter;
  }

  boolean holdsTransactions() {
    return holdsTransactions;
  }

  /// For whom it works now. Any thread.
  public Viewer viewer() {
    return viewer;
  }

  /// For whom the requests from now on are.
  public void viewer(Viewer newViewer) {
    viewer = newViewer;
    engineSession.viewer(newViewer);
  }

  EngineSession engineSession() {
    return engineSession;
  }

  /// Transactions that this session has used and that have not ended.
  List<OpenTransaction> transactions() {
    return transactions;
  }

  void enters(OpenTransaction transaction) {
    transactions.add(transaction);
    shown.setRelease(transaction);
  }

  void leaves(OpenTransaction transaction) {
    transactions.remove(transaction);
    shown.setRelease(transactions.isEmpty() ? null : transactions.getLast());
  }

  /// The open transaction that it has begun or joined last; null: none. Any thread.
  @Nullable OpenTransaction shownTransaction() {
    return shown.getAcquire();
  }

  /// Handle of the transaction that this session began or joined last; 0: none.
  long lastTransaction() {
    return lastTransaction;
  }

  void lastTransaction(long handle) {
    lastTransaction = handle;
  }

  /// Any thread.
  ExecutionList running() {
    return running;
  }

  /// Whether a statement is being prepared: other requests wait, in their order.
  boolean isPreparing() {
    return preparing;
  }

  /// A statement that is being prepared, and for whom.
  record Preparing(String sql, Instant beganAt, Viewer viewer) {}

  /// Statement that is being prepared; null: none. Any thread.
  @Nullable Preparing planned() {
    return planned;
  }

  /// A request begins to prepare a statement.
  void prepares(long requestId, String sql) {
    preparing = true;
    planned = new Preparing(sql, Instant.now(), viewer);
    preparingRequest = requestId;
  }

  /// Planning that prepares it, if it has not ended yet.
  void preparedBy(Planning by) {
    if (preparing) {
      planning = by;
    }
  }

  /// The statement is prepared, or will not be.
  void prepared() {
    preparing = false;
    planned = null;
    planning = null;
  }

  /// Cancels the preparation; the request gets its answer when it has ended.
  void cancelPreparation() {
    Planning now = planning;
    if (now != null) {
      now.cancel();
    }
  }

  /// Cancels the preparation that a request has asked for.
  void cancelPreparation(long requestId) {
    if (preparing && preparingRequest == requestId) {
      cancelPreparation();
    }
  }

  /// Cancels what runs and is chosen.
  void cancelRunning(Predicate<StatementRequest> isCanceled) {
    for (StatementRequest each : running.list()) {
      if (isCanceled.test(each)) {
        each.cancel();
      }
    }
  }

  /// Limit of its executions; null: none.
  public @Nullable Admission admission() {
    return admission;
  }

  /// Whether an execution waits for its admission, as the first of the deferred requests.
  void limited(boolean now) {
    limited = now;
  }

  /// Whether requests have to wait, in their order: the next one goes to [#defer].
  public boolean isBlocked() {
    return preparing || limited;
  }

  /// Keeps a request until what blocks the session has ended.
  public void defer(DeferredRequest request) {
    deferred.add(request);
  }

  ArrayDeque<DeferredRequest> deferred() {
    return deferred;
  }

  public boolean isClosed() {
    return closed;
  }

  void closed() {
    closed = true;
  }
}
