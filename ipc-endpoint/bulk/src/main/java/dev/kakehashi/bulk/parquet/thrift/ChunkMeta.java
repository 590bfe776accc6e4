package dev.kakehashi.bulk.parquet.thrift;

/// A column of a row group.
///
/// @param type physical
/// @param encodings bit `1 << n` for each encoding n
/// @param path names from below the root to the leaf
/// @param codec number
/// @param values levels, so nulls count
/// @param dictionaryPage where it begins; 0: there is none
public record ChunkMeta(
    int type,
    int encodings,
    String path,
    int codec,
    long values,
    long uncompressedBytes,
    long compressedBytes,
    long dataPage,
    long dictionaryPage,
    ChunkStatistics statistics) {
  private static final int MAX_ENCODING = 31;
  private static final int MAX_PATH = 64;

  /// Where its first page begins.
  public long begin() {
    return dictionaryPage > 0 && dictionaryPage < dataPage ? dictionaryPage : dataPage;
  }

  /// Reads a ColumnChunk.
  static ChunkMeta read(CompactReader in) {
    ChunkMeta meta = null;
    in.begin();
    while (in.next()) {
      switch (in.field()) {
        case 1 -> {
          if (in.binary().length > 0) {
            throw FileMeta.malformed("has a column in another file");
          }
        }
        case 3 -> {
          in.struct();
          meta = readMeta(in);
        }
        case 8, 9 -> throw FileMeta.encrypted();
        default -> in.skip();
      }
    }
    if (meta == null) {
      throw FileMeta.malformed("has a column without metadata");
    }
    return meta;
  }

  private static ChunkMeta readMeta(CompactReader in) {
    int type = -1;
    int encodings = 0;
    String path = "";
    int codec = -1;
    long values = -1;
    long uncompressed = -1;
    long compressed = -1;
    long data = -1;
    long dictionary = 0;
    ChunkStatistics statistics = ChunkStatistics.NONE;
    while (in.next()) {
      switch (in.field()) {
        case 1 -> type = in.i32();
        case 2 -> {
          for (int i = in.i32s(); i > 0; i--) {
            encodings |= 1 << Math.clamp(in.intElement(), 0, MAX_ENCODING);
          }
        }
        case 3 -> path = readPath(in);
        case 4 -> codec = in.i32();
        case 5 -> values = in.i64();
        case 6 -> uncompressed = in.i64();
        case 7 -> compressed = in.i64();
        case 9 -> data = in.i64();
        case 11 -> dictionary = in.i64();
        case 12 -> statistics = ChunkStatistics.read(in);
        default -> in.skip();
      }
    }
    boolean sane =
        type >= 0
            && codec >= 0
            && values >= 0
            && uncompressed >= 0
            && compressed >= 0
            && data >= 0
            && dictionary >= 0;
    if (!sane) {
      throw FileMeta.malformed("has a column whose metadata lacks a field");
    }
    return new ChunkMeta(
        type,
        encodings,
        path,
        codec,
        values,
        uncompressed,
        compressed,
        data,
        dictionary,
        statistics);
  }

  private static String readPath(CompactReader in) {
    int count = in.binaries();
    if (count > MAX_PATH) {
      throw FileMeta.malformed("is nested too deep");
    }
    StringBuilder path = new StringBuilder();
    for (int i = 0; i < count; i++) {
      path.append(i == 0 ? "" : ".").append(in.stringElement());
    }
    return path.toString();
  }
}
