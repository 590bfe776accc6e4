package dev.kakehashi.tools.replay;

import dev.kakehashi.protocol.Frames;
import dev.kakehashi.protocol.Protocol;
import dev.kakehashi.protocol.messages.CancelTransactionEncoder;
import dev.kakehashi.protocol.messages.CommitEncoder;
import dev.kakehashi.protocol.messages.ExecuteDecoder;
import dev.kakehashi.protocol.messages.ExecuteEncoder;
import dev.kakehashi.protocol.messages.ExportTransactionEncoder;
import dev.kakehashi.protocol.messages.InvokeDecoder;
import dev.kakehashi.protocol.messages.InvokeEncoder;
import dev.kakehashi.protocol.messages.PrepareTransactionEncoder;
import dev.kakehashi.protocol.messages.QueryOutcomeEncoder;
import dev.kakehashi.protocol.messages.ReleaseSavepointEncoder;
import dev.kakehashi.protocol.messages.RollbackEncoder;
import dev.kakehashi.protocol.messages.RollbackToSavepointEncoder;
import dev.kakehashi.protocol.messages.SavepointEncoder;
import dev.kakehashi.protocol.messages.TransactionAction;
import java.nio.ByteOrder;
import java.util.HashMap;
import java.util.Map;
import org.agrona.concurrent.UnsafeBuffer;

/// Transactions of the archive, by their handles then and now.
final class Handles {
  private final Map<Long, Long> nowByThen = new HashMap<>();

  /// A transaction has begun, or has answered once more.
  void bind(long then, long now) {
    if (then != 0 && now != 0) {
      nowByThen.put(then, now);
    }
  }

  /// Replaces the handle of a request.
  ///
  /// @return false when it is of a transaction that nobody has begun here
  boolean translate(byte[] frame) {
    UnsafeBuffer buffer = new UnsafeBuffer(frame);
    int template = Frames.templateId(buffer);
    int offset = offset(template);
    if (offset < 0 || !continues(template, buffer)) {
      return true;
    }
    int at = Protocol.MESSAGE_HEADER_BYTES + offset;
    long then = buffer.getLong(at, ByteOrder.LITTLE_ENDIAN);
    if (then == 0) {
      return true; // the one that the session began last
    }
    boolean ends = template == CommitEncoder.TEMPLATE_ID || template == RollbackEncoder.TEMPLATE_ID;
    Long now = ends ? nowByThen.remove(then) : nowByThen.get(then);
    if (now == null) {
      return false;
    }
    buffer.putLong(at, now, ByteOrder.LITTLE_ENDIAN);
    return true;
  }

  /// Whether a request that may begin a transaction goes on in one; others always do.
  private static boolean continues(int template, UnsafeBuffer frame) {
    return switch (template) {
      case ExecuteDecoder.TEMPLATE_ID ->
          Frames.wrap(new ExecuteDecoder(), frame).action() == TransactionAction.CONTINUE;
      case InvokeDecoder.TEMPLATE_ID ->
          Frames.wrap(new InvokeDecoder(), frame).action() == TransactionAction.CONTINUE;
      default -> true;
    };
  }

  private static int offset(int template) {
    return switch (template) {
      case InvokeEncoder.TEMPLATE_ID -> InvokeEncoder.transactionHandleEncodingOffset();
      case ExecuteEncoder.TEMPLATE_ID -> ExecuteEncoder.transactionHandleEncodingOffset();
      case CommitEncoder.TEMPLATE_ID -> CommitEncoder.transactionHandleEncodingOffset();
      case RollbackEncoder.TEMPLATE_ID -> RollbackEncoder.transactionHandleEncodingOffset();
      case PrepareTransactionEncoder.TEMPLATE_ID ->
          PrepareTransactionEncoder.transactionHandleEncodingOffset();
      case SavepointEncoder.TEMPLATE_ID -> SavepointEncoder.transactionHandleEncodingOffset();
      case ReleaseSavepointEncoder.TEMPLATE_ID ->
          ReleaseSavepointEncoder.transactionHandleEncodingOffset();
      case RollbackToSavepointEncoder.TEMPLATE_ID ->
          RollbackToSavepointEncoder.transactionHandleEncodingOffset();
      case QueryOutcomeEncoder.TEMPLATE_ID -> QueryOutcomeEncoder.transactionHandleEncodingOffset();
      case CancelTransactionEncoder.TEMPLATE_ID ->
          CancelTransactionEncoder.transactionHandleEncodingOffset();
      case ExportTransactionEncoder.TEMPLATE_ID ->
          ExportTransactionEncoder.transactionHandleEncodingOffset();
      default -> -1;
    };
  }
}
