package dev.kakehashi.sharedmemory;

import dev.kakehashi.engine.api.BeginOptions;
import dev.kakehashi.engine.api.EngineTransaction;
import dev.kakehashi.engine.api.ParameterBatch;
import dev.kakehashi.engine.api.Statement;
import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.protocol.ErrorCode;
import dev.kakehashi.protocol.Frames;
import dev.kakehashi.protocol.MalformedFrameException;
import dev.kakehashi.protocol.messages.CloseStatementDecoder;
import dev.kakehashi.protocol.messages.ExecuteDecoder;
import dev.kakehashi.protocol.messages.PrepareDecoder;
import dev.kakehashi.protocol.messages.TransactionAction;
import dev.kakehashi.requests.ClientRequests;
import dev.kakehashi.requests.Executions;
import dev.kakehashi.requests.OpenTransaction;
import dev.kakehashi.requests.RequestCore;
import dev.kakehashi.requests.StatementRequest;
import dev.kakehashi.requests.Transactions;
import dev.kakehashi.scheduler.Admission;
import dev.kakehashi.transport.TransportConfig;
import java.lang.foreign.MemorySegment;
import java.util.Map;
import java.util.Objects;
import org.agrona.DirectBuffer;
import org.jspecify.annotations.Nullable;

/// Requests about statements. Poller only.
final class StatementFrames implements ExecutionHandler {
  private final RequestCore core;
  private final Transactions transactions;
  private final Executions executions;
  private final int maxStatements;
  private final int reservedSlots;

  // Flyweight of the poller.
  private final ExecuteDecoder execute = new ExecuteDecoder();

  StatementFrames(RequestCore core, TransportConfig config) {
    this.core = core;
    this.transactions = core.transactions();
    this.executions = core.executions();
    this.maxStatements = config.sessions().maxStatements();
    this.reservedSlots = config.mailbox().reservedSlots();
  }

  /// By template.
  Map<Integer, FrameHandler> handlers() {
    return Map.of(
        PrepareDecoder.TEMPLATE_ID, this::prepare,
        ExecuteDecoder.TEMPLATE_ID, this::execute,
        CloseStatementDecoder.TEMPLATE_ID, this::closeStatement);
  }

  private int statementId(long id) {
    if (id >= maxStatements) {
      throw new EngineException(
              ErrorCode.LIMIT_EXCEEDED,
              "statement " + id + " exceeds the " + maxStatements + " statements of a session")
          .withHint("Raise \"max_statements\" of the endpoint.");
    }
    return (int) id;
  }

  private void closeStatement(
      SharedMemorySession session, long requestId, SlotResponse response, DirectBuffer frame) {
    CloseStatementDecoder close = Frames.wrap(new CloseStatementDecoder(), frame);
    session.closeStatement(statementId(close.statementId()));
    response.completed(null, 0);
  }

  private void prepare(
      SharedMemorySession session, long requestId, SlotResponse response, DirectBuffer frame) {
    PrepareDecoder prepare = Frames.wrap(new PrepareDecoder(), frame);
    int id = statementId(prepare.statementId());
    long inboundOffset = prepare.sqlOffset();
    long inboundBytes = prepare.sqlBytes();
    PrepareDecoder.ParameterTypesDecoder group = prepare.parameterTypes();
    int[] types = new int[group.count()];
    for (int i = 0; i < types.length; i++) {
      types[i] = (int) group.next().typeOid();
    }
    String sql = Frames.nextText(prepare, frame);
    // Frames of earlier versions, which are replayed, have them all inline.
    if (inboundBytes > 0 && inboundBytes != PrepareDecoder.sqlBytesNullValue()) {
      sql = Frames.text(session.endpointSession().inboundBytes(inboundOffset, inboundBytes));
    }
    core.prepare(
        session.requests(),
        requestId,
        sql,
        types,
        (statement, failure) -> {
          session.prepared(id, statement, failure);
          if (failure != null) {
            response.failed(null, failure);
          } else {
            response.prepared(id, Objects.requireNonNull(statement));
          }
        });
  }

  void execute(
      SharedMemorySession session, long requestId, SlotResponse response, DirectBuffer frame) {
    execute(core, this, session, requestId, response, frame);
  }

  /// Executes, or lets the request wait for its admission.
  static void execute(
      RequestCore core,
      ExecutionHandler handler,
      SharedMemorySession session,
      long requestId,
      SlotResponse response,
      DirectBuffer frame) {
    response.required();
    Admission admission = session.requests().admission();
    if (admission == null) {
      handler.execute(session, requestId, response, frame, null);
    } else if (admission.tryEnter()) {
      handler.execute(session, requestId, response, frame, admission::leave);
    } else {
      FrameHandler again = (of, id, to, copy) -> execute(core, handler, of, id, to, copy);
      core.awaitAdmission(
          session.requests(),
          admission,
          new DeferredFrame(session, requestId, response, again, handler, frame));
    }
  }

  @Override
  public long continuedHandle(DirectBuffer frame) {
    ExecuteDecoder request = Frames.wrap(new ExecuteDecoder(), frame);
    return request.action() == TransactionAction.CONTINUE ? request.transactionHandle() : -1;
  }

  @Override
  public void execute(
      SharedMemorySession session,
      long requestId,
      SlotResponse response,
      DirectBuffer frame,
      @Nullable Runnable whenEnded) {
    ClientRequests requests = session.requests();
    try (StatementRequest request = executions.request(requests, requestId, response, whenEnded)) {
      Frames.wrap(execute, frame);
      // Fields of the block first: reading the parameters moves the decoder.
      TransactionAction action = execute.action();
      EngineTransaction.CommitResponse commit = FrameOptions.response(execute.response());
      Statement statement = session.statement(execute.statementId());
      BeginOptions options =
          action == TransactionAction.CONTINUE
              ? BeginOptions.DEFAULT // there to be none
              : FrameOptions.options(execute.kind(), execute.isolation());
      // A failure of BEGIN still begins: the client knows the transaction as the one it began last,
      // and ends it.
      OpenTransaction open =
          switch (action) {
            case AUTO_COMMIT -> null;
            case BEGIN ->
                response.begun(transactions.begin(requests, options, execute.leaseNanos()));
            case CONTINUE -> transactions.use(requests, execute.transactionHandle());
            case NULL_VAL -> throw new IllegalArgumentException("no transaction action");
          };
      request.runsIn(open, execute.flags().commitAfter(), commit);
      ParameterBatch parameters;
      try {
        // A slot that keeps its memory has room.
        if (execute.slot() >= reservedSlots) {
          executions.count(request, statement);
        }
        parameters = parameters(session, statement, frame);
      } catch (EngineException e) {
        request.refuse(e);
        return;
      }
      executions.run(request, options, statement, parameters, FrameOptions.of(execute));
    }
  }

  /// The checked parameters, in memory that the client cannot change unless they are long.
  private ParameterBatch parameters(
      SharedMemorySession session, Statement statement, DirectBuffer frame) {
    long inboundBytes = execute.inboundBytes();
    long inboundOffset = execute.inboundOffset();
    int inlineBytes = Frames.nextLength(execute, frame);
    int inlineOffset = Frames.skipBytes(execute, inlineBytes);
    int[] types = statement.parameterTypeOids();
    if (inboundBytes == 0 && inlineBytes == 0) {
      return Executions.none(types);
    }
    MemorySegment source =
        inboundBytes > 0
            ? session.endpointSession().inboundMemory(inboundOffset, inbound(inboundBytes))
            : MemorySegment.ofArray(frame.byteArray())
                .asSlice(frame.wrapAdjustment() + (long) inlineOffset, inlineBytes);
    return checked(executions, source, types);
  }

  /// The checked batch, in memory that the client cannot change unless it is long.
  static ParameterBatch checked(Executions executions, MemorySegment source, int[] types) {
    if (ParameterBatch.isLong(source)) {
      // One copy is enough, and the engine's workers make it.
      return executions.checked(source, types);
    }
    return executions.checked(Executions.copy(source), types);
  }

  static int inbound(long bytes) {
    if (bytes > Integer.MAX_VALUE) {
      throw new MalformedFrameException("inbound batch of " + bytes + " bytes");
    }
    return (int) bytes;
  }
}
