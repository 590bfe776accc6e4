package dev.kakehashi.bulk.parquet.page;

import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/// Options of a Parquet file. Immutable.
///
/// @param rowGroupRows writing: most rows of a row group, 1,024 … 1,048,576
/// @param codec writing: of all columns that `columnCodecs` does not name
/// @param columnCodecs writing: by the names of columns
/// @param numericAs writing: what numeric without precision becomes; null: text
/// @param textColumns writing: names of columns that become text, whatever their type
/// @param infinity writing: what becomes of values that Parquet's types do not have
/// @param byPosition reading: the first column of the file is the first one of the list, whatever its name
/// @param refusesExtra reading: columns of the file that are not loaded are an error
/// @param truncates reading: nanoseconds are cut to microseconds; otherwise digits that would be lost are an error
public record ParquetOptions(
    int rowGroupRows,
    ParquetCodec codec,
    Map<String, ParquetCodec> columnCodecs,
    @Nullable NumericType numericAs,
    Set<String> textColumns,
    Infinity infinity,
    boolean byPosition,
    boolean refusesExtra,
    boolean truncates) {
  public static final int MIN_ROW_GROUP_ROWS = 1 << 10;
  public static final int MAX_ROW_GROUP_ROWS = 1 << 20;
  private static final int ROW_GROUP_ROWS = 122_880;

  /// If nothing is said.
  public static final ParquetOptions DEFAULT =
      new ParquetOptions(
          ROW_GROUP_ROWS,
          ParquetCodec.ZSTD,
          Map.of(),
          null,
          Set.of(),
          Infinity.REFUSE,
          false,
          false,
          false);

  /// Treatment of values that Parquet's types do not have: infinite dates and timestamps, the time 24:00, NaN and infinities in
  /// numeric(p,s).
  public enum Infinity {
    /// An error that names the column.
    REFUSE,
    /// Columns of such types are text.
    TEXT,
    /// Null.
    NULL
  }

  /// A numeric's precision, 1 … 76, and scale, 0 … precision.
  public record NumericType(int precision, int scale) {
    public static final int MAX_PRECISION = 76;

    /// @throws IllegalArgumentException outside of the ranges
    public NumericType {
      if (precision < 1 || precision > MAX_PRECISION || scale < 0 || scale > precision) {
        throw new IllegalArgumentException("numeric(" + precision + "," + scale + ")");
      }
    }
  }

  /// @throws IllegalArgumentException for row groups outside of their range, a codec that cannot be written
  public ParquetOptions {
    if (rowGroupRows < MIN_ROW_GROUP_ROWS || rowGroupRows > MAX_ROW_GROUP_ROWS) {
      throw new IllegalArgumentException("row groups of " + rowGroupRows + " rows");
    }
    if (codec == ParquetCodec.LZ4_HADOOP || columnCodecs.containsValue(ParquetCodec.LZ4_HADOOP)) {
      throw new IllegalArgumentException("codec cannot be written");
    }
    columnCodecs = Map.copyOf(columnCodecs);
    textColumns = Set.copyOf(textColumns);
  }

  /// The codec of a column.
  public ParquetCodec codecOf(String column) {
    return columnCodecs.getOrDefault(column, codec);
  }
}
