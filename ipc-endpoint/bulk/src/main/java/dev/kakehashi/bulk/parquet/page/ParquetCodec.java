package dev.kakehashi.bulk.parquet.page;

import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.protocol.ErrorCode;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/// How pages are compressed, by the numbers of Parquet's `CompressionCodec`.
public enum ParquetCodec {
  UNCOMPRESSED(0),
  SNAPPY(1),
  GZIP(2),
  /// The blocks of LZ4 in Hadoop's framing: read, never written.
  LZ4_HADOOP(5),
  ZSTD(6),
  LZ4_RAW(7);

  private final int number;

  ParquetCodec(int number) {
    this.number = number;
  }

  /// In the file.
  public int number() {
    return number;
  }

  /// A codec to write with, by the name of an option, in any case.
  ///
  /// @return null: there is none of the name
  public static @Nullable ParquetCodec named(String name) {
    return switch (name.toLowerCase(Locale.ROOT)) {
      case "uncompressed", "none" -> UNCOMPRESSED;
      case "snappy" -> SNAPPY;
      case "gzip" -> GZIP;
      case "zstd" -> ZSTD;
      case "lz4_raw", "lz4" -> LZ4_RAW;
      default -> null;
    };
  }

  /// A codec of a file.
  ///
  /// @throws EngineException FEATURE_NOT_SUPPORTED for LZO and Brotli, BAD_COPY_FILE_FORMAT for an unknown number
  public static ParquetCodec of(int number) {
    for (ParquetCodec codec : values()) {
      if (codec.number == number) {
        return codec;
      }
    }
    String other =
        switch (number) {
          case 3 -> "LZO";
          case 4 -> "Brotli";
          default -> "";
        };
    if (other.isEmpty()) {
      throw new EngineException(
          ErrorCode.BAD_COPY_FILE_FORMAT, "Parquet file has the unknown codec " + number);
    }
    throw new EngineException(
            ErrorCode.FEATURE_NOT_SUPPORTED,
            "Parquet files that are compressed by " + other + " are not read")
        .withHint("Write the file with zstd, snappy, gzip or lz4_raw.");
  }
}
