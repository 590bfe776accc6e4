package dev.kakehashi.bulk.parquet.write;

import dev.kakehashi.bulk.parquet.page.ParquetCodec;
import dev.kakehashi.bulk.parquet.thrift.ChunkStatistics;
import dev.kakehashi.bulk.parquet.thrift.CompactWriter;
import java.util.List;

/// A column of a row group that is written. Its places count from the beginning of the row group.
///
/// @param path names from below the root to the leaf
/// @param encodings of its pages
/// @param dictionaryPage where it begins; -1: there is none
/// @param columnIndex ranges of the pages; empty: there is none
/// @param places of the pages
record WrittenChunk(
    int physical,
    List<String> path,
    ParquetCodec codec,
    int[] encodings,
    long values,
    long uncompressedBytes,
    long compressedBytes,
    long dataPage,
    long dictionaryPage,
    ChunkStatistics statistics,
    byte[] columnIndex,
    PagePlaces places) {
  /// Bytes of memory that it takes, roughly.
  long heldBytes() {
    return 512L + columnIndex.length + places.heldBytes();
  }

  /// Where its first page begins.
  long firstPage() {
    return dictionaryPage >= 0 ? dictionaryPage : dataPage;
  }

  /// Where its indexes are in the file.
  ///
  /// @param columnAt 0: nowhere
  record Indexes(long columnAt, long offsetAt, int offsetBytes) {}

  /// Writes it as an element of a row group.
  ///
  /// @param begin of the row group in the file
  void write(CompactWriter out, long begin, Indexes indexes) {
    out.beginElement();
    out.i64(2, 0);
    out.begin(3);
    out.i32(1, physical);
    out.i32s(2, encodings.length);
    for (int encoding : encodings) {
      out.element(encoding);
    }
    out.binaries(3, path.size());
    path.forEach(out::element);
    out.i32(4, codec.number());
    out.i64(5, values);
    out.i64(6, uncompressedBytes);
    out.i64(7, compressedBytes);
    out.i64(9, begin + dataPage);
    if (dictionaryPage >= 0) {
      out.i64(11, begin + dictionaryPage);
    }
    statistics.write(out, 12);
    out.end();
    out.i64(4, indexes.offsetAt);
    out.i32(5, indexes.offsetBytes);
    if (indexes.columnAt > 0) {
      out.i64(6, indexes.columnAt);
      out.i32(7, columnIndex.length);
    }
    out.end();
  }
}
