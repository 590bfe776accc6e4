package dev.kakehashi.client;

import dev.kakehashi.protocol.ErrorCode;
import dev.kakehashi.protocol.Protocol;
import dev.kakehashi.protocol.messages.AcquireBuffersEncoder;
import dev.kakehashi.protocol.messages.BeginEncoder;
import dev.kakehashi.protocol.messages.BeginTransactionEncoder;
import dev.kakehashi.protocol.messages.CancelEncoder;
import dev.kakehashi.protocol.messages.CancelTransactionEncoder;
import dev.kakehashi.protocol.messages.CloseStatementEncoder;
import dev.kakehashi.protocol.messages.CommitEncoder;
import dev.kakehashi.protocol.messages.CommitPreparedEncoder;
import dev.kakehashi.protocol.messages.CommitResponse;
import dev.kakehashi.protocol.messages.ContinueTransactionEncoder;
import dev.kakehashi.protocol.messages.ExecuteEncoder;
import dev.kakehashi.protocol.messages.ExportTransactionEncoder;
import dev.kakehashi.protocol.messages.InvokeEncoder;
import dev.kakehashi.protocol.messages.MessageHeaderEncoder;
import dev.kakehashi.protocol.messages.PingEncoder;
import dev.kakehashi.protocol.messages.PrepareEncoder;
import dev.kakehashi.protocol.messages.PrepareTransactionEncoder;
import dev.kakehashi.protocol.messages.QueryOutcomeEncoder;
import dev.kakehashi.protocol.messages.ReleaseBuffersEncoder;
import dev.kakehashi.protocol.messages.ReleaseSavepointEncoder;
import dev.kakehashi.protocol.messages.RollbackEncoder;
import dev.kakehashi.protocol.messages.RollbackPreparedEncoder;
import dev.kakehashi.protocol.messages.RollbackToSavepointEncoder;
import dev.kakehashi.protocol.messages.SavepointEncoder;
import dev.kakehashi.protocol.messages.SetApplicationNameEncoder;
import dev.kakehashi.protocol.messages.TransactionAction;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.function.LongConsumer;
import org.agrona.concurrent.UnsafeBuffer;
import org.jspecify.annotations.Nullable;

/// Encodes requests and appends them. Thread-safe by its lock, since a cancel may come from another thread; request ids grow in the order
/// of the queue because they are given under the same lock.
final class RequestEncoder {
  private static final int PREPARE_OVERHEAD_BYTES =
      256; // of header and block, with room for versions to come

  private final long sessionId;
  private final RequestAppender appender;
  private final byte[] bytes;
  private final UnsafeBuffer buffer;
  private final MessageHeaderEncoder header = new MessageHeaderEncoder();
  private final ExecuteEncoder execute = new ExecuteEncoder();
  private long lastRequestId;

  RequestEncoder(Limits limits, RequestAppender appender) {
    this.sessionId = limits.identity().sessionId();
    this.appender = appender;
    this.bytes = new byte[limits.queue().maxFrameBytes()];
    this.buffer = new UnsafeBuffer(bytes);
  }

  private interface Encoding {
    /// Encodes a message with this request id; returns its length without the header.
    int encode(long requestId);
  }

  private synchronized void append(Encoding encoding) {
    append(lastRequestId + 1, encoding);
  }

  private synchronized void append(PendingCall call, Encoding encoding) {
    long requestId = lastRequestId + 1;
    call.begin(requestId);
    append(requestId, encoding);
  }

  private void append(long requestId, Encoding encoding) {
    int length;
    try {
      length = encoding.encode(requestId);
    } catch (IndexOutOfBoundsException e) {
      throw EndpointException.of(
          ErrorCode.LIMIT_EXCEEDED,
          "request exceeds the longest request of " + bytes.length + " bytes",
          e);
    }
    appender.append(bytes, Protocol.MESSAGE_HEADER_BYTES + length);
    lastRequestId = requestId;
  }

  /// Appends a frame that is whole once `complete` has entered the request id into it.
  synchronized void frame(@Nullable PendingCall call, byte[] frame, LongConsumer complete) {
    long requestId = lastRequestId + 1;
    if (call != null) {
      call.begin(requestId);
    }
    complete.accept(requestId);
    appender.append(frame, frame.length);
    lastRequestId = requestId;
  }

  /// Longest statement that a Prepare has inline.
  int mostInlineSqlBytes(int[] parameterTypeOids) {
    return Math.min(
        bytes.length - PREPARE_OVERHEAD_BYTES - Integer.BYTES * parameterTypeOids.length,
        Protocol.MAX_VAR_DATA_BYTES);
  }

  /// @param sql the statement, or empty when it is in an inbound buffer
  void prepare(
      PendingCall call,
      int statementId,
      byte[] sql,
      long inboundOffset,
      int inboundBytes,
      int[] parameterTypeOids) {
    append(
        call,
        requestId -> {
          PrepareEncoder prepare = new PrepareEncoder();
          prepare
              .wrapAndApplyHeader(buffer, 0, header)
              .sessionId(sessionId)
              .requestId(requestId)
              .slot(call.slot())
              .statementId(statementId)
              .sqlOffset(inboundOffset)
              .sqlBytes(inboundBytes);
          PrepareEncoder.ParameterTypesEncoder types =
              prepare.parameterTypesCount(parameterTypeOids.length);
          for (int oid : parameterTypeOids) {
            types.next().typeOid(oid);
          }
          return prepare.putSql(sql, 0, sql.length).encodedLength();
        });
  }

  /// @param parameters whole row batch; the empty segment when there are none
  void execute(
      PendingCall call, int statementId, ExecuteRequest request, MemorySegment parameters) {
    append(
        call,
        requestId -> {
          begin(call, requestId, statementId, request).inboundOffset(0).inboundBytes(0);
          int length = (int) parameters.byteSize();
          int at = execute.limit();
          buffer.putInt(at, length, java.nio.ByteOrder.LITTLE_ENDIAN);
          at += Integer.BYTES;
          buffer.boundsCheck(at, length);
          MemorySegment.copy(parameters, ValueLayout.JAVA_BYTE, 0, bytes, at, length);
          execute.limit(at + length);
          return execute.encodedLength();
        });
  }

  void executeInbound(
      PendingCall call, int statementId, ExecuteRequest request, long offset, int inboundBytes) {
    append(
        call,
        requestId ->
            begin(call, requestId, statementId, request)
                .inboundOffset(offset)
                .inboundBytes(inboundBytes)
                .putParameters(bytes, 0, 0)
                .encodedLength());
  }

  /// @param parameters whole row batch; the empty segment when there are none
  void invoke(
      PendingCall call, Procedure procedure, ExecuteRequest request, MemorySegment parameters) {
    append(
        call,
        requestId -> {
          TransactionOptions options = request.options();
          InvokeEncoder invoke =
              new InvokeEncoder()
                  .wrapAndApplyHeader(buffer, 0, header)
                  .sessionId(sessionId)
                  .requestId(requestId)
                  .slot(call.slot())
                  .shape(Integer.toUnsignedLong(procedure.shape()))
                  .transactionHandle(request.handle())
                  .leaseNanos(options.lease().toNanos())
                  .inboundOffset(0)
                  .inboundBytes(0)
                  .timeoutMillis(request.timeout().toMillis())
                  .action(request.action())
                  .kind(options.kind())
                  .isolation(options.isolation())
                  .response(CommitResponse.STORED)
                  .command(0) // each call is one of its own
                  .lockTimeoutMillis(0);
          invoke.flags().clear().newSnapshot(request.action() == TransactionAction.CONTINUE);
          int[] types = procedure.parameterTypeOids();
          InvokeEncoder.ParameterTypesEncoder group = invoke.parameterTypesCount(types.length);
          for (int oid : types) {
            group.next().typeOid(Integer.toUnsignedLong(oid));
          }
          byte[] name = procedure.nameBytes();
          invoke.putProcedure(name, 0, name.length);
          int length = (int) parameters.byteSize();
          int at = invoke.limit();
          buffer.putInt(at, length, java.nio.ByteOrder.LITTLE_ENDIAN);
          at += Integer.BYTES;
          buffer.boundsCheck(at, length);
          MemorySegment.copy(parameters, ValueLayout.JAVA_BYTE, 0, bytes, at, length);
          invoke.limit(at + length);
          return invoke.encodedLength();
        });
  }

  private ExecuteEncoder begin(
      PendingCall call, long requestId, int statementId, ExecuteRequest request) {
    TransactionOptions options = request.options();
    execute
        .wrapAndApplyHeader(buffer, 0, header)
        .sessionId(sessionId)
        .requestId(requestId)
        .slot(call.slot())
        .statementId(statementId)
        .transactionHandle(request.handle())
        .leaseNanos(options.lease().toNanos())
        .timeoutMillis(request.timeout().toMillis())
        .action(request.action())
        .kind(options.kind())
        .isolation(options.isolation())
        .response(CommitResponse.STORED)
        .command(0) // each statement is one of its own
        .lockTimeoutMillis(0);
    execute.flags().clear().newSnapshot(request.action() == TransactionAction.CONTINUE);
    return execute;
  }

  void closeStatement(int statementId) {
    append(requestId ->
        new CloseStatementEncoder()
            .wrapAndApplyHeader(buffer, 0, header)
            .sessionId(sessionId)
            .requestId(requestId)
            .slot(Protocol.NO_SLOT)
            .statementId(statementId)
            .encodedLength());
  }

  void cancel(long targetRequestId) {
    append(requestId ->
        new CancelEncoder()
            .wrapAndApplyHeader(buffer, 0, header)
            .sessionId(sessionId)
            .requestId(requestId)
            .slot(Protocol.NO_SLOT)
            .targetRequestId(targetRequestId)
            .encodedLength());
  }

  void begin(PendingCall call, TransactionOptions options) {
    if (options.isExtended()) {
      beginTransaction(call, options);
      return;
    }
    append(
        call,
        requestId ->
            new BeginEncoder()
                .wrapAndApplyHeader(buffer, 0, header)
                .sessionId(sessionId)
                .requestId(requestId)
                .slot(call.slot())
                .kind(options.kind())
                .isolation(options.isolation())
                .leaseNanos(options.lease().toNanos())
                .label(options.label())
                .encodedLength());
  }

  private void beginTransaction(PendingCall call, TransactionOptions options) {
    append(
        call,
        requestId ->
            new BeginTransactionEncoder()
                .wrapAndApplyHeader(buffer, 0, header)
                .sessionId(sessionId)
                .requestId(requestId)
                .slot(call.slot())
                .kind(options.kind())
                .isolation(options.isolation())
                .leaseNanos(options.lease().toNanos())
                .timeoutNanos(options.timeout().toNanos())
                .priority(options.priority())
                .deferrable((short) (options.deferrable() ? 1 : 0))
                .label(options.label())
                .writePreserve(options.writePreserve())
                .readInclude(options.readInclude())
                .readExclude(options.readExclude())
                .encodedLength());
  }

  void commit(PendingCall call, long handle, CommitResponse response) {
    append(
        call,
        requestId ->
            new CommitEncoder()
                .wrapAndApplyHeader(buffer, 0, header)
                .sessionId(sessionId)
                .requestId(requestId)
                .slot(call.slot())
                .response(response)
                .transactionHandle(handle)
                .encodedLength());
  }

  void rollback(PendingCall call, long handle) {
    append(
        call,
        requestId ->
            new RollbackEncoder()
                .wrapAndApplyHeader(buffer, 0, header)
                .sessionId(sessionId)
                .requestId(requestId)
                .slot(call.slot())
                .transactionHandle(handle)
                .encodedLength());
  }

  void savepoint(PendingCall call, long handle, int level) {
    append(
        call,
        requestId ->
            new SavepointEncoder()
                .wrapAndApplyHeader(buffer, 0, header)
                .sessionId(sessionId)
                .requestId(requestId)
                .slot(call.slot())
                .transactionHandle(handle)
                .level(level)
                .encodedLength());
  }

  void releaseSavepoint(PendingCall call, long handle, int level) {
    append(
        call,
        requestId ->
            new ReleaseSavepointEncoder()
                .wrapAndApplyHeader(buffer, 0, header)
                .sessionId(sessionId)
                .requestId(requestId)
                .slot(call.slot())
                .transactionHandle(handle)
                .level(level)
                .encodedLength());
  }

  void rollbackToSavepoint(PendingCall call, long handle, int level) {
    append(
        call,
        requestId ->
            new RollbackToSavepointEncoder()
                .wrapAndApplyHeader(buffer, 0, header)
                .sessionId(sessionId)
                .requestId(requestId)
                .slot(call.slot())
                .transactionHandle(handle)
                .level(level)
                .encodedLength());
  }

  void prepareTransaction(PendingCall call, long handle, String globalId) {
    append(
        call,
        requestId ->
            new PrepareTransactionEncoder()
                .wrapAndApplyHeader(buffer, 0, header)
                .sessionId(sessionId)
                .requestId(requestId)
                .slot(call.slot())
                .transactionHandle(handle)
                .globalId(globalId)
                .encodedLength());
  }

  void commitPrepared(PendingCall call, String globalId, CommitResponse response) {
    append(
        call,
        requestId ->
            new CommitPreparedEncoder()
                .wrapAndApplyHeader(buffer, 0, header)
                .sessionId(sessionId)
                .requestId(requestId)
                .slot(call.slot())
                .response(response)
                .globalId(globalId)
                .encodedLength());
  }

  void rollbackPrepared(PendingCall call, String globalId) {
    append(
        call,
        requestId ->
            new RollbackPreparedEncoder()
                .wrapAndApplyHeader(buffer, 0, header)
                .sessionId(sessionId)
                .requestId(requestId)
                .slot(call.slot())
                .globalId(globalId)
                .encodedLength());
  }

  void queryOutcome(PendingCall call, long handle) {
    append(
        call,
        requestId ->
            new QueryOutcomeEncoder()
                .wrapAndApplyHeader(buffer, 0, header)
                .sessionId(sessionId)
                .requestId(requestId)
                .slot(call.slot())
                .transactionHandle(handle)
                .encodedLength());
  }

  void cancelTransaction(PendingCall call, long handle) {
    append(
        call,
        requestId ->
            new CancelTransactionEncoder()
                .wrapAndApplyHeader(buffer, 0, header)
                .sessionId(sessionId)
                .requestId(requestId)
                .slot(call.slot())
                .transactionHandle(handle)
                .encodedLength());
  }

  void exportTransaction(PendingCall call, long handle) {
    append(
        call,
        requestId ->
            new ExportTransactionEncoder()
                .wrapAndApplyHeader(buffer, 0, header)
                .sessionId(sessionId)
                .requestId(requestId)
                .slot(call.slot())
                .transactionHandle(handle)
                .encodedLength());
  }

  void continueTransaction(PendingCall call, String token) {
    append(
        call,
        requestId ->
            new ContinueTransactionEncoder()
                .wrapAndApplyHeader(buffer, 0, header)
                .sessionId(sessionId)
                .requestId(requestId)
                .slot(call.slot())
                .token(token)
                .encodedLength());
  }

  void applicationName(PendingCall call, String name) {
    append(
        call,
        requestId ->
            new SetApplicationNameEncoder()
                .wrapAndApplyHeader(buffer, 0, header)
                .sessionId(sessionId)
                .requestId(requestId)
                .slot(call.slot())
                .applicationName(name)
                .encodedLength());
  }

  void ping(PendingCall call, byte[] payload) {
    append(
        call,
        requestId ->
            new PingEncoder()
                .wrapAndApplyHeader(buffer, 0, header)
                .sessionId(sessionId)
                .requestId(requestId)
                .slot(call.slot())
                .putPayload(payload, 0, payload.length)
                .encodedLength());
  }

  void acquireBuffers(PendingCall call, int count, int bufferBytes) {
    append(
        call,
        requestId ->
            new AcquireBuffersEncoder()
                .wrapAndApplyHeader(buffer, 0, header)
                .sessionId(sessionId)
                .requestId(requestId)
                .slot(call.slot())
                .count(count)
                .bufferBytes(bufferBytes)
                .encodedLength());
  }

  void releaseBuffers(PendingCall call) {
    append(
        call,
        requestId ->
            new ReleaseBuffersEncoder()
                .wrapAndApplyHeader(buffer, 0, header)
                .sessionId(sessionId)
                .requestId(requestId)
                .slot(call.slot())
                .encodedLength());
  }
}
