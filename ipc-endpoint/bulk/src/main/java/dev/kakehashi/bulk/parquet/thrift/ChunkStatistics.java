package dev.kakehashi.bulk.parquet.thrift;

import org.jspecify.annotations.Nullable;

/// Statistics of the values of a page or a chunk.
///
/// @param min least value, plain; null: not known
/// @param max greatest value, plain; null: not known
/// @param nulls how many; -1: not known
/// @param exactMin whether `min` is a value, not a bound
/// @param exactMax whether `max` is a value, not a bound
public record ChunkStatistics(
    byte @Nullable [] min, byte @Nullable [] max, long nulls, boolean exactMin, boolean exactMax) {
  static final ChunkStatistics NONE = new ChunkStatistics(null, null, -1, false, false);

  /// Writes them as a field.
  public void write(CompactWriter out, int field) {
    out.begin(field);
    if (nulls >= 0) {
      out.i64(3, nulls);
    }
    if (max != null) {
      out.binary(5, max);
    }
    if (min != null) {
      out.binary(6, min);
    }
    if (max != null) {
      out.bool(7, exactMax);
    }
    if (min != null) {
      out.bool(8, exactMin);
    }
    out.end();
  }

  /// Reads the structure that is the field. The deprecated minimum and maximum are left out: their order is not known.
  static ChunkStatistics read(CompactReader in) {
    byte[] min = null;
    byte[] max = null;
    long nulls = -1;
    boolean exactMin = false;
    boolean exactMax = false;
    in.struct();
    while (in.next()) {
      switch (in.field()) {
        case 3 -> nulls = in.i64();
        case 5 -> max = in.binary();
        case 6 -> min = in.binary();
        case 7 -> exactMax = in.bool();
        case 8 -> exactMin = in.bool();
        default -> in.skip();
      }
    }
    return new ChunkStatistics(min, max, nulls, exactMin, exactMax);
  }
}
