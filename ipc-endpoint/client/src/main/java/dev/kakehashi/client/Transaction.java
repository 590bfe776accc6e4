package dev.kakehashi.client;

import dev.kakehashi.protocol.messages.CommitResponse;
import dev.kakehashi.protocol.messages.CompletedDecoder;
import dev.kakehashi.protocol.messages.TransactionState;
import dev.kakehashi.protocol.messages.TransactionTokenDecoder;
import org.jspecify.annotations.Nullable;

/// An open transaction, begun by this session or attached to by its handle.
///
/// [#close()] rolls back what has not been committed, if this session began it.
public final class Transaction implements AutoCloseable {
  private final Session session;
  private final boolean owner;
  private final long handle;
  private TransactionState state;
  private long leaseDeadlineNanos;
  private int savepointLevel;

  Transaction(Session session, boolean owner, long handle, long leaseDeadlineNanos) {
    this.session = session;
    this.owner = owner;
    this.handle = handle;
    this.leaseDeadlineNanos = leaseDeadlineNanos;
    this.state = TransactionState.ACTIVE;
  }

  /// Names the transaction to any session of the same user and OS user, see [Session#attachTransaction(long)].
  public long handle() {
    return handle;
  }

  /// Names the transaction to any client of the same user, through whatever interface: 32 hexadecimal digits that nobody guesses, see
  /// [Session#continueTransaction(String)]. Renews the lease.
  ///
  /// @throws EndpointException 25P01 if it has ended, ...
  public String token() {
    Reply reply = noted(session.exportTransaction(handle));
    return FinalFrames.token(reply.require(TransactionTokenDecoder.TEMPLATE_ID));
  }

  /// Whose statements run in it.
  public Session session() {
    return session;
  }

  /// State as of the last answer.
  public TransactionState state() {
    return state;
  }

  /// When the transaction ends unless a request renews it: CLOCK_MONOTONIC, as `System.nanoTime()` on Linux.
  public long leaseDeadlineNanos() {
    return leaseDeadlineNanos;
  }

  public Rows query(PreparedStatement statement) {
    return query(statement, statement.noParameters());
  }

  public Rows query(PreparedStatement statement, Parameters parameters) {
    PendingCall call = session.execute(statement, parameters, ExecuteRequest.inTransaction(handle));
    return new Rows(session, call, statement.columns(), this::note);
  }

  /// Runs a statement that returns no rows, once per row of parameters; returns the rows changed.
  public long update(PreparedStatement statement, Parameters parameters) {
    PendingCall call = session.execute(statement, parameters, ExecuteRequest.inTransaction(handle));
    return noted(session.complete(call)).require(CompletedDecoder.TEMPLATE_ID).rowsAffected();
  }

  public long update(PreparedStatement statement) {
    return update(statement, statement.noParameters());
  }

  /// Calls a procedure in this transaction, see [Procedure#call].
  public Rows call(Procedure procedure, @Nullable Object... values) {
    return procedure.call(
        procedure.parameters().addRow(values), ExecuteRequest.inTransaction(handle), this::note);
  }

  /// Commits; returns once it survives power loss.
  public void commit() {
    commit(CommitResponse.STORED);
  }

  /// @throws EndpointException 40001 when it was aborted instead, ...
  public void commit(CommitResponse response) {
    noted(session.commit(handle, response)).require(CompletedDecoder.TEMPLATE_ID);
  }

  /// First phase of a two-phase commit: when this returns, the transaction is durable and no longer this session's. It waits, through
  /// restarts of the endpoint too, for [Session#commitPrepared(String)] or [Session#rollbackPrepared(String)]. If it fails, the transaction
  /// is rolled back.
  ///
  /// @param globalId 1 to 200 bytes of UTF-8, unique among the prepared transactions
  /// @throws EndpointException 42710 if the identifier is in use, 40001, ...
  public void prepare(String globalId) {
    noted(session.prepareTransaction(handle, globalId)).require(CompletedDecoder.TEMPLATE_ID);
  }

  public void rollback() {
    noted(session.rollback(handle)).require(CompletedDecoder.TEMPLATE_ID);
  }

  /// Establishes a savepoint; returns its level.
  public int savepoint() {
    int level = savepointLevel + 1;
    noted(session.savepoint(handle, level)).require(CompletedDecoder.TEMPLATE_ID);
    savepointLevel = level;
    return level;
  }

  /// Forgets a savepoint and those above; what was done since stays.
  public void releaseSavepoint(int level) {
    noted(session.releaseSavepoint(handle, level)).require(CompletedDecoder.TEMPLATE_ID);
    savepointLevel = level - 1;
  }

  /// Undoes what was done since a savepoint, which stays.
  public void rollbackToSavepoint(int level) {
    noted(session.rollbackToSavepoint(handle, level)).require(CompletedDecoder.TEMPLATE_ID);
    savepointLevel = level;
  }

  private Reply noted(Reply reply) {
    note(reply);
    return reply;
  }

  private void note(Reply reply) {
    if (reply.state() != TransactionState.NONE) {
      state = reply.state();
      leaseDeadlineNanos = reply.leaseDeadlineNanos();
    }
  }

  @Override
  public void close() {
    if (owner && state == TransactionState.ACTIVE && session.isAlive()) {
      note(session.rollback(handle));
    }
  }
}
