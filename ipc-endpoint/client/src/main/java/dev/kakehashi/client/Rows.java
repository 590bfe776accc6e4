package dev.kakehashi.client;

import dev.kakehashi.protocol.RowBatchReader;
import dev.kakehashi.protocol.value.PgInterval;
import dev.kakehashi.protocol.value.PgNumeric;
import java.math.BigDecimal;
import java.time.Instant;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.LocalTime;
import java.util.List;
import java.util.UUID;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/// Rows of one query, in the endpoint's order. Columns count from 0.
///
/// Used by the session's thread; [#cancel()] may come from any. Close it: unread rows hold buffers and a response slot.
public final class Rows implements AutoCloseable {
  private final Session session;

  /// Null: the rows were read without a request, and are in [#local].
  private final @Nullable PendingCall call;

  private final List<ResultColumn> columns;
  private final Consumer<Reply> finished;
  private @Nullable RowBatchReader batch;
  private int row = -1;
  private @Nullable Reply reply;

  /// Whether they are a procedure's, which acts: its end counts, whether its rows are read or not.
  private final boolean ofProcedure;

  private volatile boolean canceled;

  /// All of the rows, until they are gone through.
  private @Nullable RowBatchReader local;

  /// Rows of [#local].
  private int localRows;

  /// Gives the memory of [#local] back.
  private Runnable released = () -> {};

  private Rows(
      Session session,
      @Nullable PendingCall call,
      List<ResultColumn> columns,
      Consumer<Reply> finished,
      boolean ofProcedure) {
    this.session = session;
    this.call = call;
    this.columns = columns;
    this.finished = finished;
    this.ofProcedure = ofProcedure;
  }

  Rows(Session session, PendingCall call, List<ResultColumn> columns, Consumer<Reply> finished) {
    this(session, call, columns, finished, false);
  }

  /// Rows that were read without a request.
  ///
  /// @param released is called once, when nobody reads them any more
  Rows(Session session, RowBatchReader local, List<ResultColumn> columns, Runnable released) {
    this(session, null, columns, reply -> {}, false);
    this.local = local;
    this.released = released;
  }

  static Rows ofProcedure(
      Session session, PendingCall call, List<ResultColumn> columns, Consumer<Reply> finished) {
    return new Rows(session, call, columns, finished, true);
  }

  public List<ResultColumn> columns() {
    return columns;
  }

  /// Goes to the next row; false after the last.
  ///
  /// @throws EndpointException when the statement failed
  public boolean next() {
    if (reply != null) {
      return false;
    }
    row++;
    while (batch == null || row >= batch.rowCount()) {
      if (nextBatch() == null) {
        return false;
      }
      row = 0;
    }
    return true;
  }

  /// Goes to the next batch, for readers that take rows by the batch; null after the last. Valid until the next call.
  public @Nullable RowBatchReader nextBatch() {
    if (reply != null) {
      return null;
    }
    release();
    batch = call == null ? takeLocal() : call.nextBatch();
    row = batch == null ? -1 : batch.rowCount();
    if (batch == null) {
      finish();
      Reply end = java.util.Objects.requireNonNull(reply);
      if (end.failure() != null) {
        throw new EndpointException(end.failure(), null);
      }
    }
    return batch;
  }

  /// Gives the batch back, if there is one.
  private void release() {
    if (batch != null) {
      batch = null;
      if (call != null) {
        call.release();
      }
    }
  }

  /// The rows that were read without a request; null: there is none, or it has been taken.
  private @Nullable RowBatchReader takeLocal() {
    RowBatchReader rows = local;
    if (rows == null || rows.rowCount() == 0) {
      return null;
    }
    localRows = rows.rowCount();
    local = null;
    return rows;
  }

  /// Waits for rows or the end, for a time at most; whether there is one.
  boolean isReady(long timeoutNanos) {
    return batch != null || reply != null || call == null || call.isReady(timeoutNanos);
  }

  private RowBatchReader current() {
    if (batch == null || row >= batch.rowCount()) {
      throw new IllegalStateException("there is no current row");
    }
    return batch;
  }

  public boolean isNull(int column) {
    return current().isNull(row, column);
  }

  public boolean getBoolean(int column) {
    return current().getBoolean(row, column);
  }

  public int getInt(int column) {
    return current().getInt(row, column);
  }

  public long getLong(int column) {
    return current().getLong(row, column);
  }

  public float getFloat(int column) {
    return current().getFloat(row, column);
  }

  public double getDouble(int column) {
    return current().getDouble(row, column);
  }

  public String getString(int column) {
    return current().getString(row, column);
  }

  public byte[] getBytes(int column) {
    return current().getBytes(row, column);
  }

  public BigDecimal getBigDecimal(int column) {
    return current().getBigDecimal(row, column);
  }

  public PgNumeric getNumeric(int column) {
    return current().getNumeric(row, column);
  }

  public LocalDate getDate(int column) {
    return current().getDate(row, column);
  }

  public LocalTime getTime(int column) {
    return current().getTime(row, column);
  }

  public LocalDateTime getTimestamp(int column) {
    return current().getTimestamp(row, column);
  }

  public Instant getTimestamptz(int column) {
    return current().getTimestamptz(row, column);
  }

  public PgInterval getInterval(int column) {
    return current().getInterval(row, column);
  }

  public UUID getUuid(int column) {
    return current().getUuid(row, column);
  }

  /// Asks the endpoint to end the statement; the next read fails with 57014 unless it had ended before. Any thread.
  public void cancel() {
    canceled = true;
    if (call != null) {
      session.cancel(call.requestId());
    }
  }

  private void finish() {
    if (call == null) {
      local = null;
      reply = Reply.ofRows(localRows);
      released.run();
      return;
    }
    reply = session.complete(call);
    finished.accept(reply);
  }

  /// Rows changed by a DML statement with RETURNING, rows sent by a query; after the last row.
  public long rowsAffected() {
    if (reply == null) {
      throw new IllegalStateException("rows are not read to their end");
    }
    return reply.rowsAffected();
  }

  /// Gives the slot and all buffers back; cancels the statement if it still runs. Waits for the end of a procedure instead, unless it was
  /// canceled: what the procedure does counts, whether its rows are read or not.
  ///
  /// @throws EndpointException the procedure has failed
  @Override
  public void close() {
    if (reply != null) {
      return;
    }
    release();
    if (call == null) {
      finish();
      return;
    }
    if (!session.isAlive()) {
      return;
    }
    if (ofProcedure && !canceled) {
      while (nextBatch() != null) {
        // thrown away
      }
    } else {
      cancel();
      finish();
    }
  }
}
