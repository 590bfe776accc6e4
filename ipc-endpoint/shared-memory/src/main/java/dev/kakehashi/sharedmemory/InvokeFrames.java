package dev.kakehashi.sharedmemory;

import dev.kakehashi.engine.api.BeginOptions;
import dev.kakehashi.engine.api.EngineTransaction;
import dev.kakehashi.engine.api.ParameterBatch;
import dev.kakehashi.engine.api.Statement;
import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.protocol.ErrorCode;
import dev.kakehashi.protocol.Frames;
import dev.kakehashi.protocol.MalformedFrameException;
import dev.kakehashi.protocol.messages.InvokeDecoder;
import dev.kakehashi.protocol.messages.TransactionAction;
import dev.kakehashi.requests.ClientRequests;
import dev.kakehashi.requests.Executions;
import dev.kakehashi.requests.OpenTransaction;
import dev.kakehashi.requests.RequestCore;
import dev.kakehashi.requests.StatementRequest;
import dev.kakehashi.requests.Transactions;
import dev.kakehashi.sharedmemory.PreparedCalls.PreparedCall;
import dev.kakehashi.transport.TransportConfig;
import java.lang.foreign.MemorySegment;
import java.util.Objects;
import org.agrona.DirectBuffer;
import org.jspecify.annotations.Nullable;

/// Requests that call procedures. The first one of a session that names a procedure prepares the call, and waits for that as a Prepare
/// does; the others find it. Poller only.
final class InvokeFrames implements ExecutionHandler {
  private static final int MOST_NAME_BYTES = 1024;
  private static final int GROUP_HEADER_BYTES = 2 * Short.BYTES;

  private final RequestCore core;
  private final Transactions transactions;
  private final Executions executions;
  private final int reservedSlots;

  // Flyweight of the poller.
  private final InvokeDecoder invoke = new InvokeDecoder();

  InvokeFrames(RequestCore core, TransportConfig config) {
    this.core = core;
    this.transactions = core.transactions();
    this.executions = core.executions();
    this.reservedSlots = config.mailbox().reservedSlots();
  }

  @Override
  public long continuedHandle(DirectBuffer frame) {
    InvokeDecoder request = Frames.wrap(new InvokeDecoder(), frame);
    return request.action() == TransactionAction.CONTINUE ? request.transactionHandle() : -1;
  }

  void invoke(
      SharedMemorySession session, long requestId, SlotResponse response, DirectBuffer frame) {
    StatementFrames.execute(core, this, session, requestId, response, frame);
  }

  /// Where types and name lie, which say what is called. Moves the decoder behind them.
  ///
  /// @return bytes from the type group on
  private int skipName(DirectBuffer frame) {
    int from = invoke.limit();
    if (from < 0 || frame.capacity() - from < GROUP_HEADER_BYTES) {
      throw new MalformedFrameException("frame ends before the types of parameters");
    }
    InvokeDecoder.ParameterTypesDecoder group = invoke.parameterTypes();
    int entryBytes = group.actingBlockLength();
    if (entryBytes < Integer.BYTES) {
      throw new MalformedFrameException("type of a parameter of " + entryBytes + " bytes");
    }
    invoke.limit(invoke.limit() + group.count() * entryBytes);
    int nameBytes = Frames.nextLength(invoke, frame);
    if (nameBytes > MOST_NAME_BYTES) {
      throw new MalformedFrameException("name of a procedure of " + nameBytes + " bytes");
    }
    Frames.skipBytes(invoke, nameBytes);
    return invoke.limit() - from;
  }

  @Override
  public void execute(
      SharedMemorySession session,
      long requestId,
      SlotResponse response,
      DirectBuffer frame,
      @Nullable Runnable whenEnded) {
    PreparedCall call;
    boolean isFound = false;
    try {
      Frames.wrap(invoke, frame);
      int from = invoke.limit();
      int bytes = skipName(frame);
      call = session.calls().find(frame, from, bytes);
      if (call == null) {
        prepare(session, requestId, response, frame, from, bytes, whenEnded);
      }
      isFound = true;
    } finally {
      if (!isFound && whenEnded != null) {
        whenEnded.run();
      }
    }
    if (call != null) {
      begin(session, requestId, response, frame, call, whenEnded);
    }
  }

  /// Prepares a call, then runs it.
  private void prepare(
      SharedMemorySession session,
      long requestId,
      SlotResponse response,
      DirectBuffer frame,
      int from,
      int bytes,
      @Nullable Runnable whenEnded) {
    Frames.wrap(invoke, frame);
    InvokeDecoder.ParameterTypesDecoder group = invoke.parameterTypes();
    int[] types = new int[group.count()];
    for (int i = 0; i < types.length; i++) {
      types[i] = (int) group.next().typeOid();
    }
    String sql = ProcedureName.call(Frames.nextText(invoke, frame), types.length);
    FrameHandler run = (of, id, to, copy) -> execute(of, id, to, copy, whenEnded);
    DeferredFrame rest = new DeferredFrame(session, requestId, response, run, this, frame);
    core.prepare(
        session.requests(),
        requestId,
        sql,
        types,
        (statement, failure) -> {
          EngineException refused =
              failure == null && session.requests().isClosed()
                  ? new EngineException(ErrorCode.QUERY_CANCELED, "client is gone")
                  : failure;
          if (refused != null) {
            response.failed(null, refused);
            if (whenEnded != null) {
              whenEnded.run();
            }
            return;
          }
          session.calls().add(rest.frame(), from, bytes, Objects.requireNonNull(statement));
          rest.run(null);
        });
  }

  /// Runs a call; the decoder is before the parameters.
  private void begin(
      SharedMemorySession session,
      long requestId,
      SlotResponse response,
      DirectBuffer frame,
      PreparedCall call,
      @Nullable Runnable whenEnded) {
    ClientRequests requests = session.requests();
    try (StatementRequest request =
        executions.request(requests, requestId, new InvokeResponse(response, call), whenEnded)) {
      Statement statement = call.statement();
      TransactionAction action = invoke.action();
      EngineTransaction.CommitResponse commit = FrameOptions.response(invoke.response());
      BeginOptions options =
          action == TransactionAction.CONTINUE
              ? BeginOptions.DEFAULT // there to be none
              : FrameOptions.options(invoke.kind(), invoke.isolation());
      OpenTransaction open =
          switch (action) {
            case AUTO_COMMIT -> null;
            case BEGIN ->
                response.begun(transactions.begin(requests, options, invoke.leaseNanos()));
            case CONTINUE -> transactions.use(requests, invoke.transactionHandle());
            case NULL_VAL -> throw new IllegalArgumentException("no transaction action");
          };
      request.runsIn(open, invoke.flags().commitAfter(), commit);
      ParameterBatch parameters;
      try {
        if (invoke.slot() >= reservedSlots) {
          executions.count(request, statement);
        }
        parameters = parameters(session, statement, frame);
        describe(call, (int) invoke.shape(), response);
      } catch (EngineException e) {
        request.refuse(e);
        return;
      }
      executions.run(request, options, statement, parameters, FrameOptions.of(invoke));
    }
  }

  private static void describe(PreparedCall call, int shape, SlotResponse response) {
    if (shape == 0) {
      CallDescription.write(call.statement().columns(), call.shape(), response);
    } else if (shape != call.shape()) {
      throw InvokeResponse.otherColumns();
    }
  }

  private ParameterBatch parameters(
      SharedMemorySession session, Statement statement, DirectBuffer frame) {
    long inboundBytes = invoke.inboundBytes();
    int inlineBytes = Frames.nextLength(invoke, frame);
    int inlineOffset = Frames.skipBytes(invoke, inlineBytes);
    int[] types = statement.parameterTypeOids();
    if (inboundBytes == 0 && inlineBytes == 0) {
      return Executions.none(types);
    }
    MemorySegment source =
        inboundBytes > 0
            ? session
                .endpointSession()
                .inboundMemory(invoke.inboundOffset(), StatementFrames.inbound(inboundBytes))
            : MemorySegment.ofArray(frame.byteArray())
                .asSlice(frame.wrapAdjustment() + (long) inlineOffset, inlineBytes);
    ParameterBatch batch = StatementFrames.checked(executions, source, types);
    if (batch.rowCount() != 1) {
      throw new EngineException(
          ErrorCode.UNDEFINED_PARAMETER,
          "a call has one row of parameters, not " + batch.rowCount());
    }
    return batch;
  }
}
