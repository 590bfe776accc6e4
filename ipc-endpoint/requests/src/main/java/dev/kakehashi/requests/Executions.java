package dev.kakehashi.requests;

import dev.kakehashi.engine.api.BeginOptions;
import dev.kakehashi.engine.api.Engine;
import dev.kakehashi.engine.api.EngineTransaction;
import dev.kakehashi.engine.api.ExecuteOptions;
import dev.kakehashi.engine.api.ParameterBatch;
import dev.kakehashi.engine.api.Statement;
import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.protocol.ErrorCode;
import dev.kakehashi.protocol.RowBatchReader;
import dev.kakehashi.protocol.TypeOid;
import java.lang.foreign.MemorySegment;
import java.util.Objects;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/// Executes statements, and ends their transactions if the request says so.
///
/// Poller only, except the completion.
public final class Executions {
  private final Engine engine;
  private final EngineNeeds needs;
  private final Transactions transactions;
  private final RowBatchReader reader = new RowBatchReader();
  private final HeapLevel heap = HeapLevel.ofProcess();
  private final OpenResults results = OpenResults.ofHeap();

  Executions(Engine engine, Transactions transactions) {
    this.engine = engine;
    this.needs = new EngineNeeds(engine);
    this.transactions = transactions;
  }

  /// A request of a session. Its door says in which transaction it runs, and [#run]s it or refuses it; then it closes the request, whatever
  /// has become of it.
  ///
  /// @param response takes rows and answer
  /// @param whenEnded called once when the request has ended, on any thread, also if it is never run; null: nothing
  public StatementRequest request(
      ClientRequests session, long requestId, Response response, @Nullable Runnable whenEnded) {
    return new StatementRequest(this, session, requestId, response, whenEnded);
  }

  /// Counts the result among those that the heap has to have room for, until the request has ended. One that would not fit is refused: a
  /// session that has many open ones gets no more when the heap is nearly full.
  ///
  /// @throws EngineException OUT_OF_MEMORY
  public void count(StatementRequest request, Statement statement) {
    int columns = statement.columns().size();
    if (!results.hasRoom(columns) || heap.isTight(results.heldBytes())) {
      throw new EngineException(ErrorCode.OUT_OF_MEMORY, "out of memory for another open result")
          .withDetail(
              "The session has "
                  + request.session().running().count()
                  + " results that are being read.")
          .withHint("Close cursors, or give the endpoint's JVM more memory.");
    }
    request.counted(results, columns);
  }

  /// Checks parameters against the types of their statement.
  ///
  /// @param batch a row batch, which nobody else changes unless it is long
  /// @throws EngineException UNDEFINED_PARAMETER, CHARACTER_NOT_IN_REPERTOIRE
  /// @throws dev.kakehashi.protocol.MalformedFrameException if it is no row batch of such values
  public ParameterBatch checked(MemorySegment batch, int[] types) {
    reader.wrap(batch);
    if (reader.columnCount() != types.length) {
      throw new EngineException(
          ErrorCode.UNDEFINED_PARAMETER,
          "statement has " + types.length + " parameters, " + reader.columnCount() + " were given");
    }
    reader.checkValues(types);
    if (!ParameterBatch.isLong(batch)) {
      checkTexts(types);
    }
    return new ParameterBatch(batch.asSlice(0, reader.batchBytes()), reader.rowCount());
  }

  /// A long batch is not looked at here: that would take milliseconds, and its owner could change it afterwards.
  private void checkTexts(int[] types) {
    for (int column = 0; column < types.length; column++) {
      if (!isText(types[column])) {
        continue;
      }
      for (int row = 0; row < reader.rowCount(); row++) {
        if (!reader.isNull(row, column) && reader.hasZeroByte(row, column)) {
          throw new EngineException(
                  ErrorCode.CHARACTER_NOT_IN_REPERTOIRE,
                  "invalid byte sequence for encoding \"UTF8\": 0x00")
              .withDetail("It is in parameter $" + (column + 1) + ".");
        }
      }
    }
  }

  private static boolean isText(int typeOid) {
    return switch (typeOid) {
      case TypeOid.TEXT, TypeOid.VARCHAR, TypeOid.BPCHAR -> true;
      default -> TypeOid.isTextForm(typeOid);
    };
  }

  /// Refuses the absence of parameters that are needed.
  ///
  /// @throws EngineException UNDEFINED_PARAMETER
  public static ParameterBatch none(int[] types) {
    if (types.length > 0) {
      throw new EngineException(
          ErrorCode.UNDEFINED_PARAMETER,
          "statement has " + types.length + " parameters, none were given");
    }
    return ParameterBatch.NONE;
  }

  /// A copy of a batch in words of 8 bytes, for kernels that read aligned.
  public static MemorySegment copy(MemorySegment batch) {
    return MemorySegment.ofArray(new long[(int) ((batch.byteSize() + 7) >>> 3)])
        .asSlice(0, batch.byteSize())
        .copyFrom(batch);
  }

  /// Runs the statement of a request; the answer goes to the request's response.
  ///
  /// @param own begins the transaction of a request that has one of its own, see [StatementRequest#runsIn]
  /// @param parameters checked, see [#checked] and [#none]
  /// @return how many rows it has read so far, also after its end. Any thread
  public LongSupplier run(
      StatementRequest request,
      BeginOptions own,
      Statement statement,
      ParameterBatch parameters,
      ExecuteOptions execute) {
    ClientRequests session = request.session();
    OpenTransaction open = request.open();
    EngineTransaction transaction =
        open == null ? begin(session, statement.ownTransaction(own)) : open.engineTransaction();
    request.begins(statement, transaction);
    try {
      needs.execution(statement, execute, open != null);
      request.started(
          statement.execute(
              transaction,
              parameters,
              open == null ? execute : open.numbered(session, execute),
              request.response(),
              request));
    } catch (EngineException e) {
      // Refused: nothing has started, and the engine will not call back.
      request.accept(null, e);
    } catch (RuntimeException | Error e) {
      // Neither has it by a mistake of ours, and the session goes on.
      request.accept(
          null, new EngineException(ErrorCode.INTERNAL_ERROR, "internal error: " + e, e));
    }
    return request;
  }

  private EngineTransaction begin(ClientRequests session, BeginOptions options) {
    needs.begin(options);
    EngineTransaction transaction = engine.begin(options);
    transaction.ofOneStatement();
    transaction.owner(session.viewer());
    return transaction;
  }

  /// A statement has ended: ends its transaction too, if the request says so, then the response. Any thread.
  void completed(StatementRequest request, long rows, @Nullable EngineException failure) {
    if (request.isAutoCommit()) {
      endAutoCommit(request, rows, failure);
      return;
    }
    OpenTransaction open = Objects.requireNonNull(request.open());
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
              request.fail(commitFailure);
            }
          });
    } else {
      request.succeed(rows);
    }
  }

  private static void endAutoCommit(
      StatementRequest request, long rows, @Nullable EngineException failure) {
    EngineTransaction transaction = request.transaction();
    if (failure != null) {
      transaction.rollback(() -> request.fail(failure));
      return;
    }
    transaction.commit(
        request.commitResponse(),
        commitFailure -> {
          if (commitFailure == null) {
            request.succeed(rows);
          } else {
            request.fail(commitFailure);
          }
        });
  }
}
