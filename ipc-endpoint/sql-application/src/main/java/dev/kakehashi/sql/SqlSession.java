package dev.kakehashi.sql;

import dev.kakehashi.engine.api.EngineException;
import dev.kakehashi.engine.api.EngineSession;
import dev.kakehashi.engine.api.Planning;
import dev.kakehashi.engine.api.Statement;
import dev.kakehashi.engine.api.Viewer;
import dev.kakehashi.scheduler.Admission;
import dev.kakehashi.transport.endpoint.EndpointSession;
import dev.kakehashi.transport.endpoint.ResponseChannel;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.atomic.AtomicReferenceArray;
import org.jspecify.annotations.Nullable;

/// What the application keeps for one session. Poller only, except the running requests.
final class SqlSession {
  /// A prepared statement, or why there is none.
  record Prepared(@Nullable Statement statement, @Nullable EngineException failure) {}

  /// A request that waits for a statement to be prepared.
  record Deferred(
      long requestId, @Nullable ResponseChannel channel, int templateId, byte[] frame) {}

  private final EndpointSession endpointSession;
  private final EngineSession engineSession;
  private final @Nullable Admission admission;
  private @Nullable Prepared[] statements = new Prepared[16];
  private final ArrayDeque<Deferred> deferred = new ArrayDeque<>();
  private final List<OpenTransaction> transactions = new ArrayList<>(1);
  // Each entry is set by the poller before the request starts, and taken out by whoever ends it.
  private final AtomicReferenceArray<StatementRequest> running;
  // The one that it has begun or joined last: written by the poller, for people.
  private final AtomicReference<@Nullable OpenTransaction> shown = new AtomicReference<>();
  private volatile Viewer viewer; // written by the poller, for people
  private long lastTransaction;
  private boolean preparing;
  private long preparingRequest;
  private @Nullable Planning planning;
  private boolean limited;
  private boolean closed;

  /// @param admission of its executions; null: unlimited
  SqlSession(
      EndpointSession endpointSession,
      EngineSession engineSession,
      int slots,
      @Nullable Admission admission) {
    this.admission = admission;
    this.endpointSession = endpointSession;
    this.engineSession = engineSession;
    this.viewer = Viewers.first(endpointSession);
    engineSession.viewer(viewer);
    this.running = new AtomicReferenceArray<>(slots);
  }

  EndpointSession endpointSession() {
    return endpointSession;
  }

  /// For whom it works now. Any thread.
  Viewer viewer() {
    return viewer;
  }

  /// For whom the requests from now on are.
  void viewer(Viewer newViewer) {
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

  @Nullable Prepared statement(int id) {
    return id >= 0 && id < statements.length ? statements[id] : null;
  }

  void statement(int id, @Nullable Prepared prepared) {
    if (id >= statements.length) {
      if (prepared == null) {
        return;
      }
      statements = Arrays.copyOf(statements, Math.max(id + 1, 2 * statements.length));
    }
    statements[id] = prepared;
  }

  /// Handle of the transaction that this session began last; 0: none.
  long lastTransaction() {
    return lastTransaction;
  }

  void lastTransaction(long handle) {
    lastTransaction = handle;
  }

  AtomicReferenceArray<StatementRequest> running() {
    return running;
  }

  /// Whether a statement is being prepared: other requests wait, in their order.
  boolean isPreparing() {
    return preparing;
  }

  /// A request begins to prepare a statement.
  void prepares(long requestId) {
    preparing = true;
    preparingRequest = requestId;
  }

  /// What prepares it, if it has not ended yet.
  void preparedBy(Planning by) {
    if (preparing) {
      planning = by;
    }
  }

  /// The statement is prepared, or will not be.
  void prepared() {
    preparing = false;
    planning = null;
  }

  /// Cancels the preparation; the request gets its answer when it has ended.
  void cancelPreparation() {
    Planning running = planning;
    if (running != null) {
      running.cancel();
    }
  }

  /// Cancels the preparation that a request has asked for.
  void cancelPreparation(long requestId) {
    if (preparing && preparingRequest == requestId) {
      cancelPreparation();
    }
  }

  @Nullable Admission admission() {
    return admission;
  }

  /// Whether an execution waits for its admission, as the first of the deferred requests.
  void limited(boolean now) {
    limited = now;
  }

  /// Whether requests have to wait, in their order.
  boolean isBlocked() {
    return preparing || limited;
  }

  ArrayDeque<Deferred> deferred() {
    return deferred;
  }

  boolean isClosed() {
    return closed;
  }

  void closed() {
    closed = true;
  }
}
