package dev.kakehashi.pgwire;

import dev.kakehashi.engine.api.Statement;
import dev.kakehashi.pgwire.wire.ServerError;
import dev.kakehashi.pgwire.wire.WireOutput;
import dev.kakehashi.pgwire.wire.WireParameters;
import dev.kakehashi.protocol.ErrorCode;
import java.nio.charset.StandardCharsets;
import java.util.List;

/// Rows of parameters that go in one COPY, behind which the table is looked at once more: its lock keeps it from changing by then.
///
/// For the lane of its transaction, and one use.
final class CopyRound implements WireExchange.Taker {
  private static final byte[] SIGNATURE =
      "PGCOPY\n\u00FF\r\n\0".getBytes(StandardCharsets.ISO_8859_1);

  /// Several rows go in one message, which the server takes as a whole.
  private static final int MESSAGE_BYTES = 32 << 10;

  private final BulkInsert insert;
  private final WireExchange exchange;
  private final int prefix;
  private int messageAt = -1;
  private boolean same;
  private long count;

  /// @param exchange to which it is added
  CopyRound(BulkInsert insert, WireExchange exchange) {
    this.insert = insert;
    this.exchange = exchange;
    this.prefix = exchange.commands();
  }

  /// Adds the look at the table alone.
  void look() {
    exchange.command(insert.check());
  }

  /// Begins the rows.
  void begin() {
    exchange.command(insert.copy());
    message();
    exchange.out().putBytes(SIGNATURE).putInt(0).putInt(0);
  }

  private void message() {
    exchange.out().begin('d');
    messageAt = exchange.out().position();
  }

  /// Adds a row.
  ///
  /// @return bytes of its values
  long add(WireParameters from, int row) {
    WireOutput out = exchange.out();
    if (out.position() - messageAt > MESSAGE_BYTES) {
      out.end();
      message();
    }
    return from.copy(out, row);
  }

  /// Gives the rows up.
  ///
  /// @param at where the row begins that cannot be sent
  void fail(int at) {
    exchange.out().truncate(at);
    exchange.out().end();
    exchange.out().begin('f').putText("a row cannot be sent").end();
  }

  /// Ends the rows.
  void end() {
    exchange.out().putShort(-1).end();
    exchange.out().begin('c').end();
    look();
  }

  /// Whether COPY does what the INSERT would have done.
  boolean isSame() {
    return same;
  }

  /// Whether an error may be another one than that of the first row that INSERT would have failed at, or one of COPY alone.
  static boolean mayBeOther(ServerError error) {
    return switch (error.sqlstate().substring(0, 2)) {
      case "0A", "22", "23", "42", "44", "55", "XX" ->
          !error.sqlstate().equals(ErrorCode.LOCK_NOT_AVAILABLE.sqlstate());
      default -> false;
    };
  }

  /// Rows that were inserted.
  long count() {
    return count;
  }

  @Override
  public void row(int command, byte[] from, int at, int length) {
    // One column of one byte, "t" or "f".
    same = length == 7 && from[at + 6] == 't';
  }

  @Override
  public void ended(int command, boolean suspended, long rows) {
    if (command == prefix && messageAt >= 0) {
      count = rows;
    }
  }

  @Override
  public void columns(List<Statement.Column> columns) {}
}
