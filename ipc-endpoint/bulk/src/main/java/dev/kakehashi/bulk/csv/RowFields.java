package dev.kakehashi.bulk.csv;

import dev.kakehashi.bulk.csv.text.Eight;
import dev.kakehashi.engine.api.bulk.BulkContext;
import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.protocol.ErrorCode;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/// Splits rows into fields. A field is a range of the data itself, or of a scratch array where quotes or escapes had to go. Not
/// thread-safe.
abstract class RowFields implements AutoCloseable {
  /// The field is the null text.
  static final int NULL = 1;

  /// The field is in the scratch array.
  static final int SCRATCH = 2;

  /// The field is the default text.
  static final int DEFAULT = 4;

  private static final int SCRATCH_BYTES = 256;

  /// Where fields begin, where they end, and what they are.
  final int[] from;

  final int[] to;
  final int[] flags;

  byte[] data = {};
  byte[] scratch = new byte[SCRATCH_BYTES];
  int scratchEnd;
  int limit;

  /// Where the next row begins.
  int at;

  /// Why the row is none; it goes on at the next one all the same.
  @Nullable EngineException failure;

  final LineEnd lineEnd;
  final byte delimiter;
  private final byte[] nullText;
  private final byte @Nullable [] defaultText;
  private final int maxFields;
  private final BulkContext context;

  RowFields(CsvOptions options, LineEnd lineEnd, int maxFields, BulkContext context) {
    this.context = context;
    this.lineEnd = lineEnd;
    this.delimiter = options.delimiter();
    this.nullText = options.nullText().getBytes(StandardCharsets.UTF_8);
    String defaults = options.defaultText();
    this.defaultText = defaults == null ? null : defaults.getBytes(StandardCharsets.UTF_8);
    this.maxFields = maxFields;
    this.from = new int[maxFields + 1];
    this.to = new int[maxFields + 1];
    this.flags = new int[maxFields + 1];
  }

  static RowFields of(
      CsvOptions options,
      LineEnd lineEnd,
      int maxFields,
      boolean[] neverNull,
      boolean[] everNull,
      BulkContext context) {
    return options.isCsv()
        ? new CsvFields(options, lineEnd, maxFields, neverNull, everNull, context)
        : new TextFields(options, lineEnd, maxFields, context);
  }

  /// Begins with a part.
  ///
  /// @param bytes with padding behind `end`
  void begin(byte[] bytes, int begin, int end) {
    data = bytes;
    at = begin;
    limit = end;
  }

  /// Splits the row at [#at], and moves that behind it.
  ///
  /// @return fields, of which at most one more than there may be is kept; check [#failure] first
  abstract int split();

  /// The array that a field is in.
  final byte[] bytes(int field) {
    return (flags[field] & SCRATCH) != 0 ? scratch : data;
  }

  final boolean isNullText(byte[] bytes, int begin, int end) {
    return end - begin == nullText.length
        && (nullText.length == 0 || Arrays.equals(bytes, begin, end, nullText, 0, nullText.length));
  }

  /// NULL or DEFAULT, if it is their text.
  final int meaning(int begin, int end) {
    if (isNullText(data, begin, end)) {
      return NULL;
    }
    return defaultText != null
            && Arrays.equals(data, begin, end, defaultText, 0, defaultText.length)
        ? DEFAULT
        : 0;
  }

  final int slot(int field) {
    return Math.min(field, maxFields);
  }

  final void set(int field, int begin, int end, int flag) {
    int slot = slot(field);
    from[slot] = begin;
    to[slot] = end;
    flags[slot] = flag;
  }

  /// Makes room in the scratch array for so many bytes more, and padding.
  final void needScratch(int count) {
    long needed = (long) scratchEnd + count + Eight.PADDING;
    if (needed > scratch.length) {
      // No longer than its part, which is in memory: never beyond the range of int.
      int length = (int) Math.min(Integer.MAX_VALUE - 16, Math.max(needed, 2L * scratch.length));
      context.reserveMemory(length - scratch.length);
      scratch = Arrays.copyOf(scratch, length);
    }
  }

  /// Whether a byte of a line end, outside of quotes, ends the row; what else it is fails it.
  final boolean isRowEnd(int place, byte each) {
    boolean isEnd =
        switch (lineEnd) {
          case LF -> each == '\n';
          case CR -> each == '\r';
          case CRLF -> each == '\r' && place + 1 < limit && data[place + 1] == '\n';
        };
    if (!isEnd) {
      fail(stray(each));
    }
    return isEnd;
  }

  abstract EngineException stray(byte each);

  final void fail(EngineException e) {
    if (failure == null) {
      failure = e;
    }
  }

  /// Gives back memory.
  @Override
  public void close() {
    context.releaseMemory(scratch.length - SCRATCH_BYTES);
    scratch = new byte[SCRATCH_BYTES];
  }

  static EngineException bad(String message) {
    return new EngineException(ErrorCode.BAD_COPY_FILE_FORMAT, message);
  }
}
