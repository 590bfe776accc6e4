package dev.kakehashi.bulk.parquet.write;

import dev.kakehashi.bulk.parquet.ParquetCodec;
import dev.kakehashi.bulk.parquet.thrift.ChunkStatistics;
import dev.kakehashi.bulk.parquet.thrift.CompactWriter;
import java.util.List;

/// A column of a row group that is in the file.
///
/// @param path names from below the root to the leaf
/// @param encodings of its pages
/// @param dictionaryPage where it begins; 0: there is none
/// @param columnIndex ranges of the pages; empty: there is none
/// @param offsetIndex where the pages are
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
    byte[] offsetIndex) {
  /// Bytes of memory that it takes, roughly.
  long heldBytes() {
    return 512L + columnIndex.length + offsetIndex.length;
  }

  /// Writes it as an element of a row group.
  ///
  /// @param columnIndexAt where its column index is in the file; 0: nowhere
  void write(CompactWriter out, long columnIndexAt, long offsetIndexAt) {
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
    out.i64(9, dataPage);
    if (dictionaryPage > 0) {
      out.i64(11, dictionaryPage);
    }
    statistics.write(out, 12);
    out.end();
    out.i64(4, offsetIndexAt);
    out.i32(5, offsetIndex.length);
    if (columnIndexAt > 0) {
      out.i64(6, columnIndexAt);
      out.i32(7, columnIndex.length);
    }
    out.end();
  }
}
