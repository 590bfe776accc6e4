package dev.kakehashi.bulk.csv;

import dev.kakehashi.bulk.csv.text.Eight;

/// Finds where rows end, over a file from its beginning: whether a byte is in quotes depends on all before it. Several GB/s where the
/// escape is the quote itself. Not thread-safe.
///
/// Positions are those of the (decompressed) file.
final class RowEnds {
  private final boolean isCsv;
  private final LineEnd lineEnd;
  private final byte quote;
  private final byte escape;
  private final long quotes;
  private final long lines;

  private boolean inQuotes;

  /// The byte before was an escape: an odd number of them.
  private boolean escaped;

  /// Text format: a backslash, and the dot after it, at the beginning of a row.
  private int markerBytes;

  private boolean atRowBegin = true;
  private boolean afterReturn;
  private long lineCount;
  private long rowEnd = -1;
  private long linesAtRowEnd;
  private long markerAt = -1;

  /// Where the row begins that the scan is in, if the marker's bytes came.
  private long markerBegin;

  RowEnds(CsvOptions options, LineEnd lineEnd) {
    this.isCsv = options.isCsv();
    this.lineEnd = lineEnd;
    this.quote = options.quote();
    this.escape = options.escape();
    this.quotes = Eight.pattern(quote);
    this.lines = Eight.pattern(lineEnd.last());
  }

  /// Behind the last row that has ended; -1: none has.
  long rowEnd() {
    return rowEnd;
  }

  /// Lines that have ended before [#rowEnd()].
  long linesAtRowEnd() {
    return linesAtRowEnd;
  }

  /// Where the end-of-data marker of text format is; -1: it did not come.
  long markerAt() {
    return markerAt;
  }

  /// The file ends: a marker needs no line end.
  void end() {
    if (markerBytes == 2 && markerAt < 0) {
      markerAt = markerBegin;
    }
  }

  /// Goes on.
  ///
  /// @param data with padding for eights
  /// @param offset of `data[0]` in the file
  void scan(byte[] data, int from, int to, long offset) {
    if (!isCsv) {
      scanText(data, from, to, offset);
    } else if (quote == escape) {
      scanParity(data, from, to, offset);
    } else {
      scanEscapes(data, from, to, offset);
    }
  }

  /// Each quote changes whether what follows is in quotes: they are counted forwards, and then the last row end is looked for backwards.
  private void scanParity(byte[] data, int from, int to, long offset) {
    long quoteCount = 0;
    long count = 0;
    int at = from;
    for (; at + 8 <= to; at += 8) {
      long eight = Eight.load(data, at);
      quoteCount += Long.bitCount(Eight.equal(eight, quotes));
      count += Long.bitCount(Eight.equal(eight, lines));
    }
    for (; at < to; at++) {
      quoteCount += data[at] == quote ? 1 : 0;
      count += data[at] == lineEnd.last() ? 1 : 0;
    }
    boolean isInside = inQuotes ^ (quoteCount & 1) != 0;
    boolean endsInside = isInside;
    long behind = 0;
    for (int i = to - 1; i >= from; i--) {
      byte each = data[i];
      if (each == quote) {
        isInside = !isInside;
      } else if (each == lineEnd.last()) {
        boolean isPair = i > from ? data[i - 1] == '\r' : afterReturn;
        if (!isInside && (isPair || lineEnd != LineEnd.CRLF)) {
          rowEnd = offset + i + 1;
          linesAtRowEnd = lineCount + count - behind;
          break;
        }
        behind++;
      }
    }
    lineCount += count;
    inQuotes = endsInside;
    if (to > from) {
      afterReturn = data[to - 1] == '\r';
    }
  }

  private void scanEscapes(byte[] data, int from, int to, long offset) {
    for (int at = from; at < to; at++) {
      byte each = data[at];
      boolean wasEscaped = escaped;
      escaped = inQuotes && each == escape && !wasEscaped;
      if (each == quote && !wasEscaped) {
        inQuotes = !inQuotes;
      } else if (each == lineEnd.last()) {
        line(offset + at, !inQuotes);
      }
      afterReturn = each == '\r';
    }
  }

  private void line(long at, boolean isRowEnd) {
    lineCount++;
    if (isRowEnd && (lineEnd != LineEnd.CRLF || afterReturn)) {
      rowEnd = at + 1;
      linesAtRowEnd = lineCount;
      atRowBegin = true;
    }
  }

  private void scanText(byte[] data, int from, int to, long offset) {
    long backslashes = Eight.pattern((byte) '\\');
    for (int at = from; at < to && markerAt < 0; ) {
      boolean plain = to - at >= 8 && !escaped && markerBytes == 0 && lineEnd != LineEnd.CRLF;
      if (plain && Eight.equal(Eight.load(data, at), backslashes) == 0) {
        eightPlain(Eight.load(data, at), at, offset);
        at += 8;
      } else {
        int end = Math.min(at + 8, to);
        for (; at < end && markerAt < 0; at++) {
          textByte(data[at], offset + at);
        }
      }
    }
  }

  private void eightPlain(long eight, int at, long offset) {
    long lineBits = Eight.equal(eight, lines);
    if (lineBits != 0) {
      int last = (63 - Long.numberOfLeadingZeros(lineBits)) >>> 3;
      lineCount += Long.bitCount(lineBits);
      rowEnd = offset + at + last + 1;
      linesAtRowEnd = lineCount;
      atRowBegin = last == 7;
    } else {
      atRowBegin = false;
    }
  }

  private void textByte(byte each, long at) {
    boolean begins = atRowBegin;
    atRowBegin = false;
    if (markerBytes == 2) {
      // `\.` alone on its line.
      if (each == lineEnd.last() && (lineEnd != LineEnd.CRLF || afterReturn)) {
        markerAt = markerBegin;
        return;
      }
      if (lineEnd != LineEnd.CRLF || each != '\r' || afterReturn) {
        markerBytes = 0;
      }
    }
    if (escaped) {
      escaped = false;
      if (each == lineEnd.last()) {
        lineCount++;
      }
      markerBytes = markerBytes == 1 && each == '.' ? 2 : 0;
      afterReturn = false;
      return;
    }
    if (each == '\\') {
      escaped = true;
      markerBytes = begins ? 1 : 0;
      markerBegin = at;
    } else if (each == lineEnd.last()) {
      line(at, true);
    }
    afterReturn = each == '\r';
  }
}
