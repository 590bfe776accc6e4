package dev.kakehashi.bulk.parquet.page;

import io.airlift.compress.v3.Compressor;
import io.airlift.compress.v3.lz4.Lz4JavaCompressor;
import io.airlift.compress.v3.snappy.SnappyJavaCompressor;
import io.airlift.compress.v3.zstd.ZstdJavaCompressor;
import java.util.EnumMap;
import java.util.Map;
import java.util.zip.CRC32;
import java.util.zip.Deflater;
import org.jspecify.annotations.Nullable;

/// Compresses pages. Keeps what each codec needs for the next page. Not thread-safe.
public final class PageCompressor implements AutoCloseable {
  private static final byte[] GZIP_HEADER = {0x1F, (byte) 0x8B, 8, 0, 0, 0, 0, 0, 0, (byte) 0xFF};
  private static final int GZIP_TRAILER_BYTES = 8;

  /// Bytes that a deflated block of at most 16 kB may be longer than what it holds, and those of the end.
  private static final int STORED_BLOCK_BYTES = 5;

  private static final int STORED_BLOCK_SHIFT = 14;

  private final Map<ParquetCodec, Compressor> compressors = new EnumMap<>(ParquetCodec.class);
  private @Nullable Deflater deflater;
  private @Nullable SystemZstd systemZstd;
  private boolean triedSystem;

  /// Most bytes that so many may become.
  public long maxBytes(ParquetCodec codec, int bytes) {
    return switch (codec) {
      case UNCOMPRESSED -> bytes;
      case GZIP ->
          GZIP_HEADER.length
              + GZIP_TRAILER_BYTES
              + bytes
              + STORED_BLOCK_BYTES * ((bytes >> STORED_BLOCK_SHIFT) + 2L);
      // Compressors ask for 1/6 more at most, and a bit.
      default -> bytes + bytes / 6L + 64;
    };
  }

  /// Compresses bytes.
  ///
  /// @param out has room for [#maxBytes]
  /// @return how many they became
  public int compress(ParquetCodec codec, byte[] in, int from, int count, byte[] out) {
    return switch (codec) {
      case UNCOMPRESSED -> {
        System.arraycopy(in, from, out, 0, count);
        yield count;
      }
      case GZIP -> gzip(in, from, count, out);
      case ZSTD -> zstd(in, from, count, out);
      default -> compressor(codec).compress(in, from, count, out, 0, out.length);
    };
  }

  private int zstd(byte[] in, int from, int count, byte[] out) {
    if (!triedSystem) {
      triedSystem = true;
      systemZstd = SystemZstd.open();
    }
    SystemZstd system = systemZstd;
    return system != null && count <= SystemZstd.MOST_BYTES
        ? system.compress(in, from, count, out)
        : compressor(ParquetCodec.ZSTD).compress(in, from, count, out, 0, out.length);
  }

  private Compressor compressor(ParquetCodec codec) {
    return compressors.computeIfAbsent(
        codec,
        key ->
            switch (key) {
              case SNAPPY -> new SnappyJavaCompressor();
              case ZSTD -> new ZstdJavaCompressor();
              case LZ4_RAW -> new Lz4JavaCompressor();
              default -> throw new IllegalArgumentException(key + " is not written");
            });
  }

  private int gzip(byte[] in, int from, int count, byte[] out) {
    Deflater used = deflater;
    if (used == null) {
      used = new Deflater(Deflater.BEST_SPEED, true);
      deflater = used;
    }
    used.reset();
    System.arraycopy(GZIP_HEADER, 0, out, 0, GZIP_HEADER.length);
    used.setInput(in, from, count);
    used.finish();
    int at = GZIP_HEADER.length;
    while (!used.finished()) {
      at += used.deflate(out, at, out.length - at - GZIP_TRAILER_BYTES);
    }
    CRC32 crc = new CRC32();
    crc.update(in, from, count);
    putInt(out, at, (int) crc.getValue());
    putInt(out, at + Integer.BYTES, count);
    return at + GZIP_TRAILER_BYTES;
  }

  private static void putInt(byte[] out, int at, int value) {
    for (int i = 0; i < Integer.BYTES; i++) {
      out[at + i] = (byte) (value >>> (8 * i));
    }
  }

  /// Frees the compressors.
  @Override
  public void close() {
    if (deflater != null) {
      deflater.end();
      deflater = null;
    }
    if (systemZstd != null) {
      systemZstd.close();
      systemZstd = null;
    }
    triedSystem = false;
    compressors.clear();
  }
}
