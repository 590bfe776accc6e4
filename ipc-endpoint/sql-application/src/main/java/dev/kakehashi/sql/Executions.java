package dev.kakehashi.sql;

import dev.kakehashi.engine.api.BeginOptions;
import dev.kakehashi.engine.api.Engine;
import dev.kakehashi.engine.api.EngineException;
import dev.kakehashi.engine.api.EngineTransaction;
import dev.kakehashi.engine.api.ExecuteOptions;
import dev.kakehashi.engine.api.ParameterBatch;
import dev.kakehashi.engine.api.Statement;
import dev.kakehashi.protocol.ErrorCode;
import dev.kakehashi.protocol.Frames;
import dev.kakehashi.protocol.MalformedFrameException;
import dev.kakehashi.protocol.RowBatchReader;
import dev.kakehashi.protocol.messages.ExecuteDecoder;
import dev.kakehashi.protocol.messages.IsolationLevel;
import dev.kakehashi.protocol.messages.TransactionAction;
import dev.kakehashi.protocol.messages.TransactionKind;
import dev.kakehashi.transport.endpoint.ResponseChannel;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import org.agrona.DirectBuffer;
import org.jspecify.annotations.Nullable;

/// Executes statements: finds or begins the transaction, checks the parameters, and ends the transaction if the request says so.
///
/// Poller only, except the completion.
final class Executions implements StatementRequest.Completion {
  private static final BeginOptions DEFAULT_OPTIONS = BeginOptions.DEFAULT;
  private static final long NANOS_PER_MILLI = 1_000_000L;

  private final Engine engine;
  private final Transactions transactions;
  private final RowBatchReader reader = new RowBatchReader();
  private final HeapLevel heap = new HeapLevel();
  private final OpenResults results = OpenResults.ofHeap();

  Executions(Engine engine, Transactions transactions) {
    this.engine = engine;
    this.transactions = transactions;
  }

  /// @param execute wrapped around `frame`
  /// @param whenEnded called once when the request has ended, if this returns true; any thread
  boolean execute(
      SqlSession session,
      long requestId,
      ResponseChannel channel,
      ExecuteDecoder execute,
      DirectBuffer frame,
      @Nullable Runnable whenEnded) {
    // Fields of the block first: reading the parameters moves the decoder.
    TransactionAction action = execute.action();
    EngineTransaction.CommitResponse response = Transactions.response(execute.response());
    Statement statement = statement(session, execute.statementId());
    // A failure of BEGIN still begins: the client knows the transaction as the one it began last,
    // and ends it.
    OpenTransaction open =
        switch (action) {
          case AUTO_COMMIT -> null;
          case BEGIN ->
              transactions.begin(
                  session, options(execute.kind(), execute.isolation()), execute.leaseNanos());
          case CONTINUE -> transactions.use(session, execute.transactionHandle());
          case NULL_VAL -> throw new IllegalArgumentException("no transaction action");
        };
    ParameterBatch parameters;
    try {
      checkHeap(session, execute.slot(), statement);
      parameters = parameters(session, statement, execute, frame);
    } catch (EngineException e) {
      Replies.failed(channel, requestId, open, ClientFailures.of(e));
      return false;
    }
    EngineTransaction transaction =
        open == null
            ? begin(session, options(execute.kind(), execute.isolation()))
            : open.engineTransaction();
    StatementRequest request =
        new StatementRequest(
            session,
            channel,
            requestId,
            execute.slot(),
            transaction,
            open,
            execute.flags().commitAfter(),
            response,
            this,
            isReserved(session, execute.slot())
                ? whenEnded
                : results.admit(statement.columns().size(), whenEnded));
    request.begins(statement);
    start(request, statement, parameters, executeOptions(execute));
    return true;
  }

  private static boolean isReserved(SqlSession session, int slot) {
    return slot < session.endpointSession().reservedSlots();
  }

  /// A session that has many open results gets no more of them when the heap is nearly full.
  private void checkHeap(SqlSession session, int slot, Statement statement) {
    if (!isReserved(session, slot)
        && (!results.hasRoom(statement.columns().size()) || heap.isTight())) {
      throw new EngineException(ErrorCode.OUT_OF_MEMORY, "out of memory for another open result")
          .withDetail(
              "The session has "
                  + session.endpointSession().openResponses()
                  + " results that are being read.")
          .withHint("Close cursors, or give the endpoint's JVM more memory.");
    }
  }

  private EngineTransaction begin(SqlSession session, BeginOptions options) {
    EngineTransaction transaction = engine.begin(options);
    transaction.owner(session.viewer());
    return transaction;
  }

  private void start(
      StatementRequest request,
      Statement statement,
      ParameterBatch parameters,
      ExecuteOptions options) {
    try {
      request.started(
          statement.execute(request.transaction(), parameters, options, request, request));
    } catch (EngineException e) {
      // Refused: the engine has not started anything and will not call back.
      request.accept(null, e);
    }
  }

  private static Statement statement(SqlSession session, long id) {
    SqlSession.Prepared prepared = id > Integer.MAX_VALUE ? null : session.statement((int) id);
    if (prepared == null) {
      throw new EngineException(
          ErrorCode.INVALID_STATEMENT, "prepared statement " + id + " does not exist");
    }
    if (prepared.failure() != null) {
      throw prepared.failure();
    }
    return java.util.Objects.requireNonNull(prepared.statement());
  }

  private static BeginOptions options(TransactionKind kind, IsolationLevel isolation) {
    return kind == TransactionKind.OCC && isolation == IsolationLevel.READ_COMMITTED
        ? DEFAULT_OPTIONS
        : Transactions.options(kind, isolation, "");
  }

  private static ExecuteOptions executeOptions(ExecuteDecoder execute) {
    boolean newSnapshot = execute.flags().newSnapshot();
    long timeoutNanos = execute.timeoutMillis() * NANOS_PER_MILLI;
    long command = execute.command();
    long lockTimeoutMillis = execute.lockTimeoutMillis();
    // Frames of earlier versions, which are replayed, do not have all fields.
    return ExecuteOptions.of(
        newSnapshot,
        timeoutNanos,
        command == ExecuteDecoder.commandNullValue() ? 0 : (int) command,
        lockTimeoutMillis == ExecuteDecoder.lockTimeoutMillisNullValue()
            ? 0
            : lockTimeoutMillis * NANOS_PER_MILLI);
  }

  /// The checked parameters, in memory that the client cannot change unless they are long.
  private ParameterBatch parameters(
      SqlSession session, Statement statement, ExecuteDecoder execute, DirectBuffer frame) {
    long inboundBytes = execute.inboundBytes();
    long inboundOffset = execute.inboundOffset();
    int inlineBytes = Frames.nextLength(execute, frame);
    int inlineOffset = Frames.skipBytes(execute, inlineBytes);
    int[] types = statement.parameterTypeOids();
    if (inboundBytes == 0 && inlineBytes == 0) {
      if (types.length > 0) {
        throw new EngineException(
            ErrorCode.UNDEFINED_PARAMETER,
            "statement has " + types.length + " parameters, none were given");
      }
      return ParameterBatch.NONE;
    }
    MemorySegment source =
        inboundBytes > 0
            ? session.endpointSession().inboundMemory(inboundOffset, inbound(inboundBytes))
            : MemorySegment.ofArray(frame.byteArray())
                .asSlice(frame.wrapAdjustment() + (long) inlineOffset, inlineBytes);
    if (ParameterBatch.isLong(source)) {
      // One copy is enough, and the engine's workers make it.
      return checked(source, types);
    }
    // Words of 8 bytes, for kernels that read aligned.
    MemorySegment copy =
        MemorySegment.ofArray(new long[(int) ((source.byteSize() + 7) >>> 3)])
            .asSlice(0, source.byteSize());
    MemorySegment.copy(
        source, ValueLayout.JAVA_BYTE, 0, copy, ValueLayout.JAVA_BYTE, 0, source.byteSize());
    return checked(copy, types);
  }

  private ParameterBatch checked(MemorySegment batch, int[] types) {
    reader.wrap(batch);
    if (reader.columnCount() != types.length) {
      throw new EngineException(
          ErrorCode.UNDEFINED_PARAMETER,
          "statement has " + types.length + " parameters, " + reader.columnCount() + " were given");
    }
    reader.checkValues(types);
    return new ParameterBatch(batch.asSlice(0, reader.batchBytes()), reader.rowCount());
  }

  private static int inbound(long bytes) {
    if (bytes > Integer.MAX_VALUE) {
      throw new MalformedFrameException("inbound batch of " + bytes + " bytes");
    }
    return (int) bytes;
  }

  /// A statement has ended: ends its transaction too, if the request says so, then the response. Any thread.
  @Override
  public void completed(StatementRequest request, long rows, @Nullable EngineException failure) {
    if (request.isAutoCommit()) {
      endAutoCommit(request, rows, failure);
      return;
    }
    OpenTransaction open = java.util.Objects.requireNonNull(request.open());
    if (failure != null) {
      request.fail(Transactions.failure(open, failure));
    } else if (request.commitAfter()) {
      transactions.commitFromCallback(
          open,
          request.commitResponse(),
          commitFailure -> {
            if (commitFailure == null) {
              request.succeed(rows);
            } else {
              request.fail(ClientFailures.of(commitFailure));
            }
          });
    } else {
      request.succeed(rows);
    }
  }

  private void endAutoCommit(
      StatementRequest request, long rows, @Nullable EngineException failure) {
    EngineTransaction transaction = request.transaction();
    if (failure != null) {
      transaction.rollback(() -> request.fail(ClientFailures.of(failure)));
      return;
    }
    transaction.commit(
        request.commitResponse(),
        commitFailure -> {
          if (commitFailure == null) {
            request.succeed(rows);
          } else {
            request.fail(ClientFailures.of(commitFailure));
          }
        });
  }
}
