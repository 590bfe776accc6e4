package dev.kakehashi.bulk.arrow;

import java.util.Set;

/// Options of an Arrow file or stream. Immutable.
///
/// Reading takes both forms and every codec, whatever `stream` and `codec` say.
///
/// @param stream writing: the form without a footer, which can be read while it comes
/// @param codec writing: of the record batches' bodies
/// @param batchRows writing: most rows of a record batch, 1 … 1,048,576
/// @param textColumns writing: names of columns that become text, whatever their type
/// @param infinity writing: what becomes of values that Arrow's types do not have
/// @param byPosition reading: the first column of the file is the first one of the list, whatever its name
/// @param refusesExtra reading: columns of the file that are not loaded are an error
/// @param truncates reading: nanoseconds are cut to microseconds; otherwise digits that would be lost are an error
public record ArrowOptions(
    boolean stream,
    Codec codec,
    int batchRows,
    Set<String> textColumns,
    Infinity infinity,
    boolean byPosition,
    boolean refusesExtra,
    boolean truncates) {
  public static final int MAX_BATCH_ROWS = 1 << 20;
  private static final int BATCH_ROWS = 1 << 16;

  /// A file, if nothing else is said.
  public static final ArrowOptions DEFAULT =
      new ArrowOptions(
          false, Codec.NONE, BATCH_ROWS, Set.of(), Infinity.REFUSE, false, false, false);

  /// Compression of a body's buffers.
  public enum Codec {
    NONE,
    LZ4,
    ZSTD
  }

  /// Treatment of values that Arrow's types do not have: infinite dates and timestamps, the time 24:00, NaN and infinities in numeric(p,s),
  /// arrays of several dimensions.
  public enum Infinity {
    /// An error that names the column.
    REFUSE,
    /// Columns of such types are text.
    TEXT,
    /// Null.
    NULL
  }

  /// @throws IllegalArgumentException for batches outside of their range
  public ArrowOptions {
    if (batchRows < 1 || batchRows > MAX_BATCH_ROWS) {
      throw new IllegalArgumentException("record batches of " + batchRows + " rows");
    }
    textColumns = Set.copyOf(textColumns);
  }

  public ArrowOptions withStream(boolean chosen) {
    return new ArrowOptions(
        chosen, codec, batchRows, textColumns, infinity, byPosition, refusesExtra, truncates);
  }

  public ArrowOptions withCodec(Codec chosen) {
    return new ArrowOptions(
        stream, chosen, batchRows, textColumns, infinity, byPosition, refusesExtra, truncates);
  }
}
