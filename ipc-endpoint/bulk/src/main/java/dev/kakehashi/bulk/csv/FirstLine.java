package dev.kakehashi.bulk.csv;

import org.jspecify.annotations.Nullable;

/// Finds the end of a row at the beginning of a file, whose first one says how lines end. Goes on where it was when more bytes have come.
/// Not thread-safe.
final class FirstLine {
  private final boolean isCsv;
  private final byte quote;
  private final byte escape;
  private boolean inQuotes;
  private boolean escaped;
  private int at;
  private @Nullable LineEnd found;

  FirstLine(CsvOptions options, int from) {
    this.isCsv = options.isCsv();
    this.quote = options.quote();
    this.escape = options.escape();
    this.at = from;
  }

  /// @param isWhole whether the file ends at `to`
  /// @return null: it is not seen yet; LF also for a file that ends within the first row
  @Nullable LineEnd find(byte[] data, int to, boolean isWhole) {
    for (; at < to && found == null; at++) {
      byte each = data[at];
      if (isLineEnd(each)) {
        if (each == '\r' && at + 1 == to && !isWhole) {
          return null;
        }
        if (each == '\n') {
          found = LineEnd.LF;
        } else {
          found = at + 1 < to && data[at + 1] == '\n' ? LineEnd.CRLF : LineEnd.CR;
        }
        at += found.bytes() - 1;
      }
    }
    if (found == null && isWhole) {
      found = LineEnd.LF;
    }
    return found;
  }

  private boolean isLineEnd(byte each) {
    boolean wasEscaped = escaped;
    escaped = false;
    boolean isEnd = each == '\n' || each == '\r';
    if (!isCsv) {
      escaped = each == '\\' && !wasEscaped;
      return isEnd && !wasEscaped;
    }
    escaped = inQuotes && quote != escape && each == escape && !wasEscaped;
    if (each == quote && !wasEscaped) {
      inQuotes = !inQuotes;
    }
    return isEnd && !inQuotes;
  }

  /// The bytes have moved to a place before.
  void moved(int by) {
    at -= by;
  }

  /// Behind the row, line end included.
  int end() {
    return at;
  }
}
