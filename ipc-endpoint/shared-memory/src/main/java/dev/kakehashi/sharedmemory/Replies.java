package dev.kakehashi.sharedmemory;

import dev.kakehashi.engine.api.DirectRead;
import dev.kakehashi.engine.api.Statement;
import dev.kakehashi.protocol.ErrorCode;
import dev.kakehashi.protocol.Failure;
import dev.kakehashi.protocol.Protocol;
import dev.kakehashi.protocol.messages.BuffersGrantedEncoder;
import dev.kakehashi.protocol.messages.CompletedEncoder;
import dev.kakehashi.protocol.messages.MessageHeaderEncoder;
import dev.kakehashi.protocol.messages.PongEncoder;
import dev.kakehashi.protocol.messages.PreparedEncoder;
import dev.kakehashi.protocol.messages.StatementKind;
import dev.kakehashi.protocol.messages.TransactionState;
import dev.kakehashi.protocol.messages.TransactionTokenEncoder;
import dev.kakehashi.requests.OpenTransaction;
import dev.kakehashi.transport.endpoint.ResponseChannel;
import java.util.List;
import org.agrona.DirectBuffer;
import org.jspecify.annotations.Nullable;

/// Writes final frames. A null channel is a client that wants none. Any thread.
final class Replies {
  private static final byte[] NO_BYTES = {};

  static void completed(
      @Nullable ResponseChannel channel,
      long requestId,
      TransactionState state,
      long handle,
      long leaseDeadlineNanos,
      long rowsAffected,
      boolean undurableReads) {
    if (channel == null) {
      return;
    }
    channel.finish(buffer ->
        Protocol.MESSAGE_HEADER_BYTES
            + new CompletedEncoder()
                .wrapAndApplyHeader(buffer, 0, new MessageHeaderEncoder())
                .requestId(requestId)
                .transactionHandle(handle)
                .leaseDeadlineNanos(leaseDeadlineNanos)
                .rowsAffected(rowsAffected)
                .transactionState(state)
                .undurableReads((short) (undurableReads ? 1 : 0))
                .encodedLength());
  }

  static void failed(
      @Nullable ResponseChannel channel,
      long requestId,
      TransactionState state,
      long handle,
      long leaseDeadlineNanos,
      Failure failure) {
    if (channel == null) {
      return;
    }
    channel.finish(buffer -> failure.encode(buffer, requestId, handle, leaseDeadlineNanos, state));
  }

  /// The client's frame cannot be understood: its session ends.
  static void refused(@Nullable ResponseChannel channel, long requestId, String reason) {
    Failure failure = Failure.of(ErrorCode.MALFORMED_MESSAGE, reason).asFatal();
    failed(channel, requestId, TransactionState.NONE, 0, 0, failure);
  }

  static void token(
      @Nullable ResponseChannel channel,
      long requestId,
      OpenTransaction transaction,
      String token) {
    if (channel == null) {
      return;
    }
    channel.finish(buffer ->
        Protocol.MESSAGE_HEADER_BYTES
            + new TransactionTokenEncoder()
                .wrapAndApplyHeader(buffer, 0, new MessageHeaderEncoder())
                .requestId(requestId)
                .transactionHandle(transaction.handle())
                .leaseDeadlineNanos(transaction.leaseDeadlineNanos())
                .transactionState(transaction.state())
                .token(token)
                .encodedLength());
  }

  static void prepared(
      @Nullable ResponseChannel channel, long requestId, int statementId, Statement statement) {
    if (channel == null) {
      return;
    }
    channel.finish(buffer -> {
      int[] types = statement.parameterTypeOids();
      List<Statement.Column> columns = statement.columns();
      PreparedEncoder prepared = new PreparedEncoder();
      prepared
          .wrapAndApplyHeader(buffer, 0, new MessageHeaderEncoder())
          .requestId(requestId)
          .transactionHandle(0)
          .leaseDeadlineNanos(0)
          .statementId(statementId)
          .transactionState(TransactionState.NONE)
          .kind(
              switch (statement.kind()) {
                case QUERY -> StatementKind.QUERY;
                case DML -> StatementKind.DML;
                case DDL -> StatementKind.DDL;
              });
      PreparedEncoder.ParametersEncoder parameters = prepared.parametersCount(types.length);
      for (int oid : types) {
        parameters.next().typeOid(oid);
      }
      PreparedEncoder.ColumnsEncoder group = prepared.columnsCount(columns.size());
      for (Statement.Column column : columns) {
        group
            .next()
            .typeOid(column.typeOid())
            .typeModifier(column.typeModifier())
            .name(column.name());
      }
      DirectRead direct = statement.directRead();
      byte[] ticket = direct == null ? NO_BYTES : DirectReadEncoding.encode(direct);
      prepared.putDirectRead(ticket, 0, ticket.length);
      return Protocol.MESSAGE_HEADER_BYTES + prepared.encodedLength();
    });
  }

  static void pong(
      @Nullable ResponseChannel channel,
      long requestId,
      DirectBuffer payload,
      int offset,
      int length) {
    if (channel == null) {
      return;
    }
    channel.finish(buffer ->
        Protocol.MESSAGE_HEADER_BYTES
            + new PongEncoder()
                .wrapAndApplyHeader(buffer, 0, new MessageHeaderEncoder())
                .requestId(requestId)
                .putPayload(payload, offset, length)
                .encodedLength());
  }

  static void granted(ResponseChannel channel, long requestId, int bufferBytes, long[] offsets) {
    channel.finish(buffer -> {
      BuffersGrantedEncoder granted = new BuffersGrantedEncoder();
      granted
          .wrapAndApplyHeader(buffer, 0, new MessageHeaderEncoder())
          .requestId(requestId)
          .bufferBytes(bufferBytes);
      BuffersGrantedEncoder.BuffersEncoder buffers = granted.buffersCount(offsets.length);
      for (long offset : offsets) {
        buffers.next().arenaOffset(offset);
      }
      return Protocol.MESSAGE_HEADER_BYTES + granted.encodedLength();
    });
  }

  private Replies() {}
}
