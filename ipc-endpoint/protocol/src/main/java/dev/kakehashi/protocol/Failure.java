package dev.kakehashi.protocol;

import dev.kakehashi.protocol.messages.FailedDecoder;
import dev.kakehashi.protocol.messages.FailedEncoder;
import dev.kakehashi.protocol.messages.MessageHeaderEncoder;
import dev.kakehashi.protocol.messages.Severity;
import dev.kakehashi.protocol.messages.TransactionState;
import org.agrona.DirectBuffer;
import org.agrona.MutableDirectBuffer;

/// Content of a `Failed` message, in PostgreSQL's fields; absent texts are empty.
///
/// @param errorNumber number of schema/errors.txt
/// @param sqlstate five characters
/// @param position character in the statement, from 1; 0: none
/// @param fatal the session is over
public record Failure(
    int errorNumber,
    String sqlstate,
    String message,
    String detail,
    String hint,
    String schemaName,
    String tableName,
    String columnName,
    String constraintName,
    int position,
    boolean fatal) {

  /// Room a message needs at most besides its texts: header, block, seven lengths.
  private static final int OVERHEAD_BYTES =
      Protocol.MESSAGE_HEADER_BYTES + FailedEncoder.BLOCK_LENGTH + 7 * Integer.BYTES;

  private static final int MAX_NAME_BYTES = 256;

  public static Failure of(ErrorCode code, String message) {
    return of(code, message, "", "");
  }

  public static Failure of(ErrorCode code, String message, String detail, String hint) {
    return new Failure(
        code.number(), code.sqlstate(), message, detail, hint, "", "", "", "", 0, false);
  }

  /// The same, as the last word of the endpoint to the session.
  public Failure asFatal() {
    return new Failure(
        errorNumber,
        sqlstate,
        message,
        detail,
        hint,
        schemaName,
        tableName,
        columnName,
        constraintName,
        position,
        true);
  }

  /// Writes a `Failed` message; texts are shortened to fit, the names last.
  ///
  /// @return length in bytes
  public int encode(
      MutableDirectBuffer buffer,
      long requestId,
      long transactionHandle,
      long leaseDeadlineNanos,
      TransactionState state) {
    FailedEncoder encoder = new FailedEncoder();
    encoder
        .wrapAndApplyHeader(buffer, 0, new MessageHeaderEncoder())
        .requestId(requestId)
        .transactionHandle(transactionHandle)
        .leaseDeadlineNanos(leaseDeadlineNanos)
        .errorNumber(errorNumber)
        .position(position)
        .sqlstate(Sqlstate.pack(sqlstate))
        .transactionState(state)
        .severity(fatal ? Severity.FATAL : Severity.ERROR);
    byte[][] names = new byte[4][];
    String[] texts = {schemaName, tableName, columnName, constraintName};
    int namesBytes = 0;
    for (int i = 0; i < names.length; i++) {
      names[i] = Frames.utf8(texts[i], MAX_NAME_BYTES);
      namesBytes += names[i].length;
    }
    int room = buffer.capacity() - OVERHEAD_BYTES - namesBytes;
    byte[] messageBytes = Frames.utf8(message, Math.max(0, room / 2));
    byte[] detailBytes = Frames.utf8(detail, Math.max(0, room / 4));
    byte[] hintBytes = Frames.utf8(hint, Math.max(0, room / 4));
    encoder
        .putMessage(messageBytes, 0, messageBytes.length)
        .putDetail(detailBytes, 0, detailBytes.length)
        .putHint(hintBytes, 0, hintBytes.length)
        .putSchemaName(names[0], 0, names[0].length)
        .putTableName(names[1], 0, names[1].length)
        .putColumnName(names[2], 0, names[2].length)
        .putConstraintName(names[3], 0, names[3].length);
    return Protocol.MESSAGE_HEADER_BYTES + encoder.encodedLength();
  }

  /// Reads the texts of a wrapped decoder.
  ///
  /// @throws MalformedFrameException when the frame is not a whole `Failed`
  public static Failure decode(FailedDecoder decoder, DirectBuffer frame) {
    return new Failure(
        (int) decoder.errorNumber(),
        Sqlstate.unpack((int) decoder.sqlstate()),
        Frames.nextText(decoder, frame),
        Frames.nextText(decoder, frame),
        Frames.nextText(decoder, frame),
        Frames.nextText(decoder, frame),
        Frames.nextText(decoder, frame),
        Frames.nextText(decoder, frame),
        Frames.nextText(decoder, frame),
        (int) decoder.position(),
        decoder.severityRaw() == Severity.FATAL.value());
  }
}
