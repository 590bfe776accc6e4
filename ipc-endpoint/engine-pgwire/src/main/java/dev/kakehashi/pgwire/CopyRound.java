package dev.kakehashi.pgwire;

import dev.kakehashi.engine.api.Statement;
import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.pgwire.wire.ServerError;
import dev.kakehashi.pgwire.wire.WireOutput;
import dev.kakehashi.pgwire.wire.WireParameters;
import dev.kakehashi.protocol.ErrorCode;
import dev.kakehashi.protocol.MalformedFrameException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.function.LongConsumer;
import org.jspecify.annotations.Nullable;

/// Rows of parameters that go in one COPY, behind which the table is looked at once more: its lock keeps it from changing by then.
///
/// For the lane of its transaction, and one use.
final class CopyRound implements WireExchange.Taker {
  private static final byte[] SIGNATURE =
      "PGCOPY\n\u00FF\r\n\0".getBytes(StandardCharsets.ISO_8859_1);

  /// A round ends with the row that reaches it.
  private static final int MOST_BYTES = 1 << 20;

  /// Several rows go in one message, which the server takes as a whole.
  private static final int MESSAGE_BYTES = 32 << 10;

  private final InsertByCopy insert;
  private final WireExchange exchange;
  private final int prefix;
  private int messageAt;
  private int added;
  private @Nullable RuntimeException refused;
  private boolean same;
  private long count;

  /// @param exchange to which it is added
  CopyRound(InsertByCopy insert, WireExchange exchange) {
    this.insert = insert;
    this.exchange = exchange;
    this.prefix = exchange.commands();
  }

  /// Adds the look at the table.
  void look() {
    exchange.command(insert.check());
  }

  /// Adds rows.
  ///
  /// @param first of them
  /// @param left how many there are
  /// @param counts takes the bytes of each; if it refuses, all are given up
  /// @return how many were added
  int copy(WireParameters from, int first, int left, LongConsumer counts) {
    exchange.command(insert.copy());
    WireOutput out = exchange.out();
    int start = out.position();
    message();
    out.putBytes(SIGNATURE).putInt(0).putInt(0);
    for (int bound = 0; bound < left && out.position() - start < MOST_BYTES; bound++) {
      if (out.position() - messageAt > MESSAGE_BYTES) {
        out.end();
        message();
      }
      int at = out.position();
      try {
        counts.accept(from.copy(out, first + bound));
      } catch (EngineException | MalformedFrameException e) {
        refused = e;
        out.truncate(at);
        out.end();
        out.begin('f').putText("a row cannot be sent").end();
        return bound;
      }
      added = bound + 1;
    }
    out.putShort(-1).end();
    out.begin('c').end();
    return added;
  }

  private void message() {
    exchange.out().begin('d');
    messageAt = exchange.out().position();
  }

  /// Why no row is sent; null: they are.
  @Nullable RuntimeException refused() {
    return refused;
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
    if (command == prefix && added > 0) {
      count = rows;
    }
  }

  @Override
  public void columns(List<Statement.Column> columns) {}
}
