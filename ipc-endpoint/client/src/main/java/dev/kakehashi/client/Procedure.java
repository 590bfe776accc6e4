package dev.kakehashi.client;

import dev.kakehashi.protocol.ErrorCode;
import dev.kakehashi.protocol.RowBatchReader;
import dev.kakehashi.protocol.messages.TransactionState;
import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/// A procedure of an application, called without a statement of SQL. The first call learns what columns it returns; each call is one
/// request.
///
/// Used by the session's thread. There is nothing to close.
public final class Procedure {
  private static final int MOST_NAME_BYTES = 1024;
  private static final int OVERHEAD_BYTES = 256; // of header and block

  private final Session session;
  private final String name;
  private final byte[] nameBytes;
  private final int[] parameterTypeOids;
  private int shape;
  private List<ResultColumn> columns = List.of();

  Procedure(Session session, String name, int[] parameterTypeOids) {
    this.session = session;
    this.name = name;
    this.nameBytes = name.getBytes(StandardCharsets.UTF_8);
    this.parameterTypeOids = parameterTypeOids.clone();
    if (nameBytes.length == 0 || nameBytes.length > MOST_NAME_BYTES) {
      throw EndpointException.of(
          ErrorCode.INVALID_NAME,
          "name of a procedure has 1 to %d bytes, not %d"
              .formatted(MOST_NAME_BYTES, nameBytes.length));
    }
  }

  public String name() {
    return name;
  }

  byte[] nameBytes() {
    return nameBytes;
  }

  int[] parameterTypeOids() {
    return parameterTypeOids;
  }

  /// Shape of the known columns; 0: none is known.
  int shape() {
    return shape;
  }

  /// An empty row of parameters.
  public Parameters parameters() {
    int most =
        session.limits().queue().maxFrameBytes()
            - OVERHEAD_BYTES
            - nameBytes.length
            - Integer.BYTES * parameterTypeOids.length;
    return Parameters.inline(parameterTypeOids, most);
  }

  /// Calls it as a transaction of its own, or as the procedure declares. Waits for its first rows or its end; close the rows, which waits
  /// for its end and throws what it has failed with.
  ///
  /// @param values of the types that were given; null is SQL's NULL
  /// @throws EndpointException 42883 if there is none for these types, 42501, P0001 or its own SQLSTATE if its code fails, ...
  public Rows call(@Nullable Object... values) {
    return call(parameters().addRow(values));
  }

  /// As [#call(Object...)], for who does not want the rows: waits for the end.
  ///
  /// @return how many there were
  public long run(@Nullable Object... values) {
    try (Rows rows = call(values)) {
      while (rows.nextBatch() != null) {
        // thrown away
      }
      return rows.rowsAffected();
    }
  }

  public Rows call(Parameters parameters) {
    return call(parameters, ExecuteRequest.autoCommit(TransactionOptions.DEFAULT), reply -> {});
  }

  Rows call(Parameters parameters, ExecuteRequest request, Consumer<Reply> finished) {
    parameters.writer().finish();
    MemorySegment batch =
        parameterTypeOids.length == 0 ? MemorySegment.NULL : parameters.writer().batch();
    boolean knewColumns = shape != 0;
    PendingCall call = send(batch, request);
    RowBatchReader first = call.nextBatch();
    if (first == null && knewColumns && changed(call)) {
      shape = 0;
      knewColumns = false;
      session.complete(call);
      call = send(batch, request);
      first = call.nextBatch();
    }
    if (!knewColumns) {
      if (first == null) {
        Reply end = session.complete(call);
        finished.accept(end);
        throw new EndpointException(
            Objects.requireNonNull(end.failure(), "a call that succeeds is described"), null);
      }
      describe(first);
      call.release();
    }
    return Rows.ofProcedure(session, call, columns, finished);
  }

  private PendingCall send(MemorySegment batch, ExecuteRequest request) {
    PendingCall call = session.take();
    session.send(call, () -> session.encoder().invoke(call, this, request, batch));
    return call;
  }

  /// Whether a call has not run because the procedure returns other columns by now.
  private static boolean changed(PendingCall call) {
    Reply end = Reply.decode(call.finish());
    return end.failure() != null
        && end.failure().errorNumber() == ErrorCode.RESULT_CHANGED.number()
        && end.state() != TransactionState.ABORTED;
  }

  private void describe(RowBatchReader description) {
    List<ResultColumn> described = new ArrayList<>(description.rowCount());
    for (int row = 0; row < description.rowCount(); row++) {
      if (!description.isNull(row, 0)) {
        described.add(
            new ResultColumn(
                description.getString(row, 0),
                description.getInt(row, 1),
                description.getInt(row, 2)));
      }
      shape = description.getInt(row, 3);
    }
    columns = List.copyOf(described);
  }
}
