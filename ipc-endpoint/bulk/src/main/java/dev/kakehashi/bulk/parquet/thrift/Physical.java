package dev.kakehashi.bulk.parquet.thrift;

/// Numbers of Parquet's metadata (parquet.thrift).
public final class Physical {
  /// Physical types.
  public static final int BOOLEAN = 0;

  public static final int INT32 = 1;
  public static final int INT64 = 2;
  public static final int INT96 = 3;
  public static final int FLOAT = 4;
  public static final int DOUBLE = 5;
  public static final int BYTE_ARRAY = 6;
  public static final int FIXED = 7;

  /// Repetitions.
  public static final int REQUIRED = 0;

  public static final int OPTIONAL = 1;
  public static final int REPEATED = 2;

  /// Encodings.
  public static final int PLAIN = 0;

  public static final int PLAIN_DICTIONARY = 2;
  public static final int RLE = 3;
  public static final int BIT_PACKED = 4;
  public static final int DELTA_BINARY_PACKED = 5;
  public static final int DELTA_LENGTH_BYTE_ARRAY = 6;
  public static final int DELTA_BYTE_ARRAY = 7;
  public static final int RLE_DICTIONARY = 8;
  public static final int BYTE_STREAM_SPLIT = 9;

  /// Kinds of pages.
  public static final int DATA_PAGE = 0;

  public static final int INDEX_PAGE = 1;
  public static final int DICTIONARY_PAGE = 2;
  public static final int DATA_PAGE_V2 = 3;

  /// Bytes of a plain value; 0: a bit, -1: its length varies or is the column's.
  public static int width(int type) {
    return switch (type) {
      case BOOLEAN -> 0;
      case INT32, FLOAT -> 4;
      case INT64, DOUBLE -> 8;
      case INT96 -> 12;
      default -> -1;
    };
  }

  private Physical() {}
}
