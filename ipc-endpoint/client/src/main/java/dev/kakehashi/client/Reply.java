package dev.kakehashi.client;

import dev.kakehashi.protocol.ErrorCode;
import dev.kakehashi.protocol.Failure;
import dev.kakehashi.protocol.Frames;
import dev.kakehashi.protocol.messages.CompletedDecoder;
import dev.kakehashi.protocol.messages.FailedDecoder;
import dev.kakehashi.protocol.messages.PreparedDecoder;
import dev.kakehashi.protocol.messages.TransactionState;
import dev.kakehashi.protocol.messages.TransactionTokenDecoder;
import org.agrona.concurrent.UnsafeBuffer;
import org.jspecify.annotations.Nullable;

/// A final frame.
///
/// @param rowsAffected of `Completed`
/// @param failure of `Failed`
record Reply(
    int templateId,
    UnsafeBuffer frame,
    TransactionState state,
    long handle,
    long leaseDeadlineNanos,
    long rowsAffected,
    @Nullable Failure failure) {

  private static final UnsafeBuffer NO_FRAME = new UnsafeBuffer(new byte[0]);
  private static final Reply NO_ROW = completed(0);
  private static final Reply ONE_ROW = completed(1);

  /// The end of a query that was answered without a request, as a transaction of its own.
  static Reply ofRows(int rows) {
    return switch (rows) {
      case 0 -> NO_ROW;
      case 1 -> ONE_ROW;
      default -> completed(rows);
    };
  }

  private static Reply completed(int rows) {
    return new Reply(
        CompletedDecoder.TEMPLATE_ID, NO_FRAME, TransactionState.NONE, 0, 0, rows, null);
  }

  static Reply decode(UnsafeBuffer frame) {
    int template = Frames.templateId(frame);
    return switch (template) {
      case CompletedDecoder.TEMPLATE_ID -> {
        CompletedDecoder completed = Frames.wrap(new CompletedDecoder(), frame);
        yield new Reply(
            template,
            frame,
            completed.transactionState(),
            completed.transactionHandle(),
            completed.leaseDeadlineNanos(),
            completed.rowsAffected(),
            null);
      }
      case FailedDecoder.TEMPLATE_ID -> {
        FailedDecoder failed = Frames.wrap(new FailedDecoder(), frame);
        TransactionState state = failed.transactionState();
        long handle = failed.transactionHandle();
        long lease = failed.leaseDeadlineNanos();
        yield new Reply(template, frame, state, handle, lease, 0, Failure.decode(failed, frame));
      }
      case PreparedDecoder.TEMPLATE_ID -> {
        PreparedDecoder prepared = Frames.wrap(new PreparedDecoder(), frame);
        yield new Reply(
            template,
            frame,
            prepared.transactionState(),
            prepared.transactionHandle(),
            prepared.leaseDeadlineNanos(),
            0,
            null);
      }
      case TransactionTokenDecoder.TEMPLATE_ID -> {
        TransactionTokenDecoder token = Frames.wrap(new TransactionTokenDecoder(), frame);
        yield new Reply(
            template,
            frame,
            token.transactionState(),
            token.transactionHandle(),
            token.leaseDeadlineNanos(),
            0,
            null);
      }
      default -> new Reply(template, frame, TransactionState.NONE, 0, 0, 0, null);
    };
  }

  /// @throws EndpointException when the request failed, or the answer is of another kind
  Reply require(int expectedTemplateId) {
    if (failure != null) {
      throw new EndpointException(failure, null);
    }
    if (templateId != expectedTemplateId) {
      throw EndpointException.of(
          ErrorCode.MALFORMED_MESSAGE,
          "endpoint answered with message " + templateId + " instead of " + expectedTemplateId);
    }
    return this;
  }
}
