package dev.kakehashi.bulk.parquet.page;

import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.protocol.ErrorCode;
import io.airlift.compress.v3.Decompressor;
import io.airlift.compress.v3.lz4.Lz4JavaDecompressor;
import io.airlift.compress.v3.snappy.SnappyJavaDecompressor;
import io.airlift.compress.v3.zstd.ZstdJavaDecompressor;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.util.EnumMap;
import java.util.Map;
import java.util.zip.GZIPInputStream;

/// Decompresses pages whose lengths were bounded before. Not thread-safe.
public final class PageDecompressor {
  private static final int HADOOP_HEADER_BYTES = 8;
  private static final int GZIP_BUFFER_BYTES = 4096;
  private final Map<ParquetCodec, Decompressor> decompressors = new EnumMap<>(ParquetCodec.class);

  /// Decompresses bytes.
  ///
  /// @param wanted bytes that they have to become, for which `out` has room
  /// @throws EngineException BAD_COPY_FILE_FORMAT when they become others
  public void decompress(
      ParquetCodec codec, byte[] in, int from, int count, byte[] out, int at, int wanted) {
    int made;
    try {
      made =
          switch (codec) {
            case UNCOMPRESSED -> copy(in, from, count, out, at, wanted);
            case GZIP -> gunzip(in, from, count, out, at, wanted);
            case LZ4_HADOOP -> lz4Hadoop(in, from, count, out, at, wanted);
            default -> raw(codec, in, from, count, out, at, wanted);
          };
    } catch (RuntimeException | IOException e) {
      // Whatever a decompressor says of damaged bytes.
      throw new EngineException(
          ErrorCode.BAD_COPY_FILE_FORMAT,
          "page of the Parquet file cannot be decompressed by " + codec + ": " + e.getMessage());
    }
    if (made != wanted) {
      throw new EngineException(
          ErrorCode.BAD_COPY_FILE_FORMAT,
          "page of the Parquet file has " + made + " bytes instead of " + wanted);
    }
  }

  private static int copy(byte[] in, int from, int count, byte[] out, int at, int wanted) {
    if (count == wanted) {
      System.arraycopy(in, from, out, at, count);
    }
    return count;
  }

  private int raw(
      ParquetCodec codec, byte[] in, int from, int count, byte[] out, int at, int wanted) {
    // Compressors write a byte for nothing, decompressors of pages without values get none.
    return count == 0 ? 0 : decompressor(codec).decompress(in, from, count, out, at, wanted);
  }

  private Decompressor decompressor(ParquetCodec codec) {
    return decompressors.computeIfAbsent(
        codec,
        key ->
            switch (key) {
              case SNAPPY -> new SnappyJavaDecompressor();
              case ZSTD -> new ZstdJavaDecompressor();
              case LZ4_RAW -> new Lz4JavaDecompressor();
              default -> throw new IllegalArgumentException("no decompressor");
            });
  }

  private static int gunzip(byte[] in, int from, int count, byte[] out, int at, int wanted)
      throws IOException {
    try (GZIPInputStream stream =
        new GZIPInputStream(new ByteArrayInputStream(in, from, count), GZIP_BUFFER_BYTES)) {
      int made = stream.readNBytes(out, at, wanted);
      return made == wanted && stream.read() >= 0 ? wanted + 1 : made;
    }
  }

  /// Blocks, each after its length and the compressed one, big-endian; some writers leave the lengths out.
  private int lz4Hadoop(byte[] in, int from, int count, byte[] out, int at, int wanted) {
    int next = from;
    int end = from + count;
    int made = 0;
    while (end - next > HADOOP_HEADER_BYTES) {
      int length = readInt(in, next);
      int compressed = readInt(in, next + Integer.BYTES);
      next += HADOOP_HEADER_BYTES;
      if (length < 0 || length > wanted - made || compressed <= 0 || compressed > end - next) {
        return raw(ParquetCodec.LZ4_RAW, in, from, count, out, at, wanted);
      }
      int block = raw(ParquetCodec.LZ4_RAW, in, next, compressed, out, at + made, length);
      if (block != length) {
        return -1;
      }
      made += length;
      next += compressed;
    }
    return made;
  }

  private static int readInt(byte[] in, int at) {
    return (in[at] & 0xFF) << 24
        | (in[at + 1] & 0xFF) << 16
        | (in[at + 2] & 0xFF) << 8
        | (in[at + 3] & 0xFF);
  }
}
