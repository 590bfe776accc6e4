package dev.kakehashi.tools.shell;

import dev.kakehashi.client.Bulk;
import dev.kakehashi.client.EndpointException;
import dev.kakehashi.client.PreparedStatement;
import dev.kakehashi.client.ResultColumn;
import dev.kakehashi.client.Rows;
import dev.kakehashi.client.Session;
import dev.kakehashi.client.Transaction;
import dev.kakehashi.client.TransactionOptions;
import dev.kakehashi.protocol.RowBatchReader;
import dev.kakehashi.protocol.messages.CommitResponse;
import dev.kakehashi.protocol.messages.StatementKind;
import dev.kakehashi.protocol.messages.TransactionState;
import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.Objects;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/// The way through shared memory: a session. Used by one thread; [#cancel] by any.
public final class MemoryLink extends Link {
  private final Supplier<Session> sessions;
  private final String place;
  private Session session;
  private @Nullable Transaction transaction;
  private volatile @Nullable Rows running;

  /// Attaches.
  ///
  /// @param sessions attaches another one each time
  /// @param place the runtime directory
  public MemoryLink(Supplier<Session> sessions, String place, Manner manner) {
    super(manner);
    this.sessions = sessions;
    this.place = place;
    this.session = sessions.get();
  }

  @Override
  public String place() {
    return place;
  }

  @Override
  public Link beside() {
    return new MemoryLink(sessions, place, Manner.DEFAULT);
  }

  @Override
  public boolean isAlive() {
    return session.isAlive();
  }

  @Override
  protected boolean reconnectNow() {
    transaction = null;
    running = null;
    session.close();
    try {
      session = sessions.get();
      return true;
    } catch (EndpointException unreachable) {
      // The session that was closed says so at each statement.
      return false;
    }
  }

  @Override
  public Bulk bulk() {
    Transaction current = transaction;
    return current == null ? Bulk.of(session) : Bulk.in(session, current);
  }

  // ---- transactions ----

  @Override
  public boolean isInTransaction() {
    return transaction != null;
  }

  @Override
  protected boolean carries(Manner wanted) {
    return wanted.equals(Manner.DEFAULT);
  }

  @Override
  protected void beginNow(TransactionOptions options) {
    transaction = session.begin(options);
  }

  private Transaction current() {
    return Objects.requireNonNull(transaction);
  }

  @Override
  protected void commitNow(CommitResponse response) {
    Transaction current = current();
    transaction = null;
    current.commit(response);
  }

  @Override
  protected void rollbackNow() {
    Transaction current = current();
    transaction = null;
    if (current.state() == TransactionState.ACTIVE) {
      current.rollback();
    }
  }

  @Override
  protected void savepointNow() {
    current().savepoint();
  }

  @Override
  protected void releaseNow(int level) {
    current().releaseSavepoint(level);
  }

  @Override
  protected void rollbackToNow(int level) {
    current().rollbackToSavepoint(level);
  }

  @Override
  protected void prepareNow(String globalId) {
    Transaction current = current();
    transaction = null;
    current.prepare(globalId);
  }

  // ---- statements ----

  @Override
  protected Running start(String sql) {
    PreparedStatement statement = session.prepare(sql);
    boolean begun = false;
    try {
      Transaction current = transaction;
      Rows rows = current == null ? session.query(statement) : current.query(statement);
      running = rows;
      begun = true;
      return new RunningRows(statement, rows);
    } finally {
      if (!begun) {
        statement.close();
      }
    }
  }

  @Override
  public List<ResultColumn> describe(String sql) {
    try (PreparedStatement statement = session.prepare(sql)) {
      return statement.columns();
    }
  }

  @Override
  public void cancel() {
    Rows rows = running;
    if (rows != null) {
      rows.cancel();
    }
  }

  @Override
  public void close() {
    Transaction current = transaction;
    if (current != null) {
      current.close();
    }
    session.close();
  }

  /// Owns statement and rows.
  private final class RunningRows implements Running {
    private final PreparedStatement statement;
    private final Rows rows;

    RunningRows(PreparedStatement statement, Rows rows) {
      this.statement = statement;
      this.rows = rows;
    }

    @Override
    public List<ResultColumn> columns() {
      return statement.columns();
    }

    @Override
    public boolean isQuery() {
      return statement.kind() == StatementKind.QUERY;
    }

    @Override
    public @Nullable MemorySegment next() {
      RowBatchReader batch = rows.nextBatch();
      return batch == null ? null : batch.memory();
    }

    @Override
    public long rows() {
      return rows.rowsAffected();
    }

    @Override
    public void close() {
      running = null;
      rows.close();
      statement.close();
    }
  }
}
