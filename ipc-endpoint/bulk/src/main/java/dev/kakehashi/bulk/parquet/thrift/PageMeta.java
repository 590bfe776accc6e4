package dev.kakehashi.bulk.parquet.thrift;

/// The header of a page. Used again for one page after another; not thread-safe.
public final class PageMeta {
  private int kind;
  private int uncompressedBytes;
  private int compressedBytes;
  private int crc;
  private boolean hasCrc;
  private int values;
  private int encoding;
  private int definitionEncoding;
  private int repetitionEncoding;
  private int definitionBytes;
  private int repetitionBytes;
  private boolean compressed;
  private int rows;

  /// Reads the header that the reader is at.
  public void read(CompactReader in) {
    kind = -1;
    uncompressedBytes = -1;
    compressedBytes = -1;
    hasCrc = false;
    values = -1;
    encoding = -1;
    definitionEncoding = Physical.RLE;
    repetitionEncoding = Physical.RLE;
    definitionBytes = 0;
    repetitionBytes = 0;
    compressed = true;
    rows = -1;
    in.begin();
    while (in.next()) {
      switch (in.field()) {
        case 1 -> kind = in.i32();
        case 2 -> uncompressedBytes = in.i32();
        case 3 -> compressedBytes = in.i32();
        case 4 -> {
          crc = in.i32();
          hasCrc = true;
        }
        case 5 -> readData(in);
        case 7 -> readDictionary(in);
        case 8 -> readDataV2(in);
        default -> in.skip();
      }
    }
    if (kind < 0 || uncompressedBytes < 0 || compressedBytes < 0) {
      throw FileMeta.malformed("has a page without a kind or a length");
    }
    if (kind != Physical.INDEX_PAGE && (values < 0 || encoding < 0)) {
      throw FileMeta.malformed("has a page without an encoding or a number of values");
    }
  }

  private void readData(CompactReader in) {
    in.struct();
    while (in.next()) {
      switch (in.field()) {
        case 1 -> values = in.i32();
        case 2 -> encoding = in.i32();
        case 3 -> definitionEncoding = in.i32();
        case 4 -> repetitionEncoding = in.i32();
        default -> in.skip();
      }
    }
  }

  private void readDictionary(CompactReader in) {
    in.struct();
    while (in.next()) {
      switch (in.field()) {
        case 1 -> values = in.i32();
        case 2 -> encoding = in.i32();
        default -> in.skip();
      }
    }
  }

  private void readDataV2(CompactReader in) {
    in.struct();
    while (in.next()) {
      switch (in.field()) {
        case 1 -> values = in.i32();
        case 3 -> rows = in.i32();
        case 4 -> encoding = in.i32();
        case 5 -> definitionBytes = in.i32();
        case 6 -> repetitionBytes = in.i32();
        case 7 -> compressed = in.bool();
        default -> in.skip();
      }
    }
    if (definitionBytes < 0
        || repetitionBytes < 0
        || (long) definitionBytes + repetitionBytes
            > Math.min(compressedBytes, uncompressedBytes)) {
      throw FileMeta.malformed("has a page whose levels are longer than it");
    }
  }

  public int kind() {
    return kind;
  }

  public int uncompressedBytes() {
    return uncompressedBytes;
  }

  public int compressedBytes() {
    return compressedBytes;
  }

  public int crc() {
    return crc;
  }

  public boolean hasCrc() {
    return hasCrc;
  }

  /// Levels of a data page, entries of a dictionary.
  public int values() {
    return values;
  }

  public int encoding() {
    return encoding;
  }

  public int definitionEncoding() {
    return definitionEncoding;
  }

  public int repetitionEncoding() {
    return repetitionEncoding;
  }

  /// Bytes of the definition levels of a page V2.
  public int definitionBytes() {
    return definitionBytes;
  }

  /// Bytes of the repetition levels of a page V2.
  public int repetitionBytes() {
    return repetitionBytes;
  }

  /// Whether the values of a page V2 are compressed.
  public boolean isCompressed() {
    return compressed;
  }

  /// Rows of a page V2.
  public int rows() {
    return rows;
  }
}
