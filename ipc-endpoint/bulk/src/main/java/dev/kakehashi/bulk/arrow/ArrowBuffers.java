package dev.kakehashi.bulk.arrow;

import dev.kakehashi.bulk.arrow.ArrowOptions.Codec;
import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.formats.ArrowMessages;
import dev.kakehashi.formats.ArrowParts;
import dev.kakehashi.protocol.ErrorCode;
import io.airlift.compress.v3.MalformedInputException;
import io.airlift.compress.v3.zstd.ZstdJavaCompressor;
import io.airlift.compress.v3.zstd.ZstdJavaDecompressor;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import org.apache.arrow.flatbuf.CompressionType;
import org.jspecify.annotations.Nullable;

/// Compresses the buffers of record batches, and back: each begins with its length as 8 bytes, -1 if it is not compressed after all. Not
/// thread-safe.
final class ArrowBuffers {
  static final int LENGTH_BYTES = 8;
  private static final VarHandle LONGS =
      MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);

  // Made when they are needed: they have tables.
  private @Nullable ZstdJavaCompressor zstd;
  private @Nullable ZstdJavaDecompressor unzstd;
  private @Nullable Lz4Frame lz4;

  private ZstdJavaCompressor zstd() {
    if (zstd == null) {
      zstd = new ZstdJavaCompressor();
    }
    return zstd;
  }

  private ZstdJavaDecompressor unzstd() {
    if (unzstd == null) {
      unzstd = new ZstdJavaDecompressor();
    }
    return unzstd;
  }

  private Lz4Frame lz4() {
    if (lz4 == null) {
      lz4 = new Lz4Frame();
    }
    return lz4;
  }

  /// Arrow's number of a codec.
  static byte typeOf(Codec codec) {
    return switch (codec) {
      case NONE -> ArrowMessages.NO_CODEC;
      case LZ4 -> CompressionType.LZ4_FRAME;
      case ZSTD -> CompressionType.ZSTD;
    };
  }

  /// Replaces all buffers by their compressed form.
  void compress(Codec codec, ArrowParts parts) {
    for (int i = 0; i < parts.bufferCount(); i++) {
      int length = parts.length(i);
      if (length == 0) {
        continue;
      }
      byte[] in = parts.buffer(i);
      int most = codec == Codec.LZ4 ? lz4().maxBytes(length) : zstd().maxCompressedLength(length);
      byte[] out = new byte[Math.addExact(LENGTH_BYTES, Math.max(most, length))];
      int end =
          codec == Codec.LZ4
              ? lz4().compress(in, length, out, LENGTH_BYTES)
              : LENGTH_BYTES
                  + zstd().compress(in, 0, length, out, LENGTH_BYTES, out.length - LENGTH_BYTES);
      if (end - LENGTH_BYTES < length) {
        LONGS.set(out, 0, (long) length);
      } else {
        LONGS.set(out, 0, -1L);
        System.arraycopy(in, 0, out, LENGTH_BYTES, length);
        end = LENGTH_BYTES + length;
      }
      parts.replace(i, out, end);
    }
  }

  /// The length that a compressed buffer says; -1: the rest is not compressed.
  static long lengthOf(byte[] in, int from) {
    return (long) LONGS.get(in, from);
  }

  /// Fills `out`.
  ///
  /// @param codec Arrow's number
  /// @throws EngineException BAD_COPY_FILE_FORMAT when the bytes are broken, or become others than so many
  void decompress(byte codec, byte[] in, int from, int length, byte[] out) {
    if (codec == CompressionType.LZ4_FRAME) {
      lz4().decompress(in, from, length, out);
      return;
    }
    int filled;
    try {
      filled = unzstd().decompress(in, from, length, out, 0, out.length);
    } catch (MalformedInputException | IllegalArgumentException e) {
      throw new EngineException(ErrorCode.BAD_COPY_FILE_FORMAT, "a buffer of zstd is broken", e);
    }
    if (filled != out.length) {
      throw new EngineException(
          ErrorCode.BAD_COPY_FILE_FORMAT,
          "a buffer of zstd has %d bytes instead of %d".formatted(filled, out.length));
    }
  }
}
