package dev.kakehashi.bulk.parquet.write;

import dev.kakehashi.bulk.parquet.thrift.CompactWriter;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/// Where the pages of a chunk are, and between which values. Used for one chunk after another; not thread-safe.
final class PageIndex {
  private record Page(
      long offset, int bytes, long firstRow, int values, long nulls, ValueRange range) {}

  private final List<Page> pages = new ArrayList<>();

  void clear() {
    pages.clear();
  }

  /// @param bytes of the page with its header
  /// @param values that are there
  void add(long offset, int bytes, long firstRow, int values, long nulls, ValueRange range) {
    pages.add(new Page(offset, bytes, firstRow, values, nulls, range));
  }

  PagePlaces places() {
    long[] offsets = new long[pages.size()];
    int[] bytes = new int[offsets.length];
    long[] firstRows = new long[offsets.length];
    for (int i = 0; i < offsets.length; i++) {
      Page page = pages.get(i);
      offsets[i] = page.offset;
      bytes[i] = page.bytes;
      firstRows[i] = page.firstRow;
    }
    return new PagePlaces(offsets, bytes, firstRows);
  }

  /// The ranges; empty when a page that has values has none.
  byte[] columnIndex() {
    for (Page page : pages) {
      if (page.values > 0 && (page.range.min() == null || page.range.max() == null)) {
        return new byte[0];
      }
    }
    CompactWriter out = new CompactWriter();
    out.beginElement();
    out.bools(1, pages.size());
    for (Page page : pages) {
      out.element(page.values == 0);
    }
    out.binaries(2, pages.size());
    for (Page page : pages) {
      byte[] min = page.range.min();
      out.element(min == null ? new byte[0] : min);
    }
    out.binaries(3, pages.size());
    for (Page page : pages) {
      byte[] max = page.range.max();
      out.element(max == null ? new byte[0] : max);
    }
    // Unordered.
    out.i32(4, 0);
    out.i64s(5, pages.size());
    for (Page page : pages) {
      out.element(page.nulls);
    }
    out.end();
    return Arrays.copyOf(out.bytes(), out.length());
  }
}
