package dev.kakehashi.bulk.parquet.write;

import dev.kakehashi.bulk.parquet.thrift.CompactWriter;
import java.util.Arrays;

/// Where the pages of a chunk are: by page. Immutable, though arrays are not copied.
///
/// @param offsets from the beginning of what the chunk was written into
/// @param bytes of the page with its header
/// @param firstRows of the row group
record PagePlaces(long[] offsets, int[] bytes, long[] firstRows) {
  /// Bytes of memory that a page takes.
  private static final long PAGE_BYTES = Long.BYTES + Integer.BYTES + Long.BYTES;

  /// As an offset index of the format.
  ///
  /// @param begin where in the file the chunks were put
  byte[] index(long begin) {
    CompactWriter out = new CompactWriter();
    out.beginElement();
    out.structs(1, offsets.length);
    for (int i = 0; i < offsets.length; i++) {
      out.beginElement();
      out.i64(1, begin + offsets[i]);
      out.i32(2, bytes[i]);
      out.i64(3, firstRows[i]);
      out.end();
    }
    out.end();
    return Arrays.copyOf(out.bytes(), out.length());
  }

  /// Bytes of memory that it takes.
  long heldBytes() {
    return PAGE_BYTES * offsets.length;
  }
}
