package dev.kakehashi.bulk.csv;

import dev.kakehashi.bulk.csv.text.Eight;
import dev.kakehashi.formats.BatchView;
import dev.kakehashi.formats.Output;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;

/// Writes texts as fields. Not thread-safe.
abstract class FieldText {
  private FieldText() {}

  static FieldText of(CsvOptions options, boolean isOnly) {
    return options.isCsv() ? new Quoting(options, isOnly) : new Escaping(options);
  }

  /// @param isForced whether it gets quotes in any case
  abstract void put(Output out, MemorySegment memory, long from, int length, boolean isForced)
      throws IOException;

  /// CSV: quotes where they are needed.
  private static final class Quoting extends FieldText {
    private final byte delimiter;
    private final byte quote;
    private final byte escape;
    private final byte[] nullText;
    private final boolean isOnly;
    private final long delimiters;
    private final long quotes;
    private final long newlines = Eight.pattern((byte) '\n');
    private final long returns = Eight.pattern((byte) '\r');

    private Quoting(CsvOptions options, boolean isOnly) {
      this.delimiter = options.delimiter();
      this.quote = options.quote();
      this.escape = options.escape();
      this.nullText = options.nullText().getBytes(StandardCharsets.UTF_8);
      this.isOnly = isOnly;
      this.delimiters = Eight.pattern(delimiter);
      this.quotes = Eight.pattern(quote);
    }

    @Override
    void put(Output out, MemorySegment memory, long from, int length, boolean isForced)
        throws IOException {
      if (!isForced && isPlain(memory, from, length)) {
        out.put(memory, from, length);
        return;
      }
      out.put(quote);
      for (long at = from; at < from + length; at++) {
        byte each = memory.get(ValueLayout.JAVA_BYTE, at);
        out.need(2);
        if (each == quote || each == escape) {
          out.bytes[out.at++] = escape;
        }
        out.bytes[out.at++] = each;
      }
      out.put(quote);
    }

    private boolean isPlain(MemorySegment memory, long from, int length) {
      long end = from + length;
      long at = from;
      for (; at + 8 <= end; at += 8) {
        long eight = memory.get(BatchView.I64, at);
        long others =
            Eight.differs(eight, delimiters)
                & Eight.differs(eight, quotes)
                & Eight.differs(eight, newlines)
                & Eight.differs(eight, returns);
        if ((others & Eight.HIGHS) != Eight.HIGHS) {
          return false;
        }
      }
      for (; at < end; at++) {
        byte each = memory.get(ValueLayout.JAVA_BYTE, at);
        if (each == delimiter || each == quote || each == '\n' || each == '\r') {
          return false;
        }
      }
      // `\.` alone on a line would end the data for older readers.
      boolean isMarker =
          isOnly
              && length == 2
              && memory.get(ValueLayout.JAVA_BYTE, from) == '\\'
              && memory.get(ValueLayout.JAVA_BYTE, from + 1) == '.';
      return !isMarker && !isNullText(memory, from, length);
    }

    private boolean isNullText(MemorySegment memory, long from, int length) {
      if (length != nullText.length) {
        return false;
      }
      for (int i = 0; i < length; i++) {
        if (memory.get(ValueLayout.JAVA_BYTE, from + i) != nullText[i]) {
          return false;
        }
      }
      return true;
    }
  }

  /// Text format: backslashes where they are needed.
  private static final class Escaping extends FieldText {
    private final byte delimiter;
    private final long delimiters;
    private final long backslashes = Eight.pattern((byte) '\\');

    private Escaping(CsvOptions options) {
      this.delimiter = options.delimiter();
      this.delimiters = Eight.pattern(delimiter);
    }

    @Override
    void put(Output out, MemorySegment memory, long from, int length, boolean isForced)
        throws IOException {
      long end = from + length;
      long at = from;
      // The beginning that is as it is.
      for (; at + 8 <= end; at += 8) {
        long eight = memory.get(BatchView.I64, at);
        long others = Eight.differs(eight, delimiters) & Eight.differs(eight, backslashes);
        // A byte below 0x20 does not carry into the high bit.
        long printable = ((eight & Eight.LOWS) + Eight.pattern((byte) 0x60)) | eight;
        if ((others & printable & Eight.HIGHS) != Eight.HIGHS) {
          break;
        }
      }
      out.put(memory, from, at - from);
      for (; at < end; at++) {
        byte each = memory.get(ValueLayout.JAVA_BYTE, at);
        byte letter = letter(each);
        out.need(2);
        if (letter != 0) {
          out.bytes[out.at++] = '\\';
          out.bytes[out.at++] = letter;
        } else {
          if (each == '\\' || each == delimiter) {
            out.bytes[out.at++] = '\\';
          }
          out.bytes[out.at++] = each;
        }
      }
    }

    /// The letter that stands for a control character behind a backslash; 0: none does.
    private static byte letter(byte each) {
      return (byte)
          switch (each) {
            case '\b' -> 'b';
            case '\f' -> 'f';
            case '\n' -> 'n';
            case '\r' -> 'r';
            case '\t' -> 't';
            case 0x0B -> 'v';
            default -> 0;
          };
    }
  }
}
