package dev.kakehashi.bulk.arrow;

import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.protocol.ErrorCode;
import io.airlift.compress.v3.MalformedInputException;
import io.airlift.compress.v3.lz4.Lz4JavaCompressor;
import io.airlift.compress.v3.lz4.Lz4JavaDecompressor;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;

/// The frame format of LZ4 around blocks that do not depend on each other. Not thread-safe.
///
/// Written: blocks of 4 MB, no checksums but the header's. Read: any block size; blocks that depend on those before and dictionaries are
/// refused; a content checksum is verified.
final class Lz4Frame {
  private static final VarHandle INTS =
      MethodHandles.byteArrayViewVarHandle(int[].class, ByteOrder.LITTLE_ENDIAN);
  private static final int MAGIC = 0x184D_2204;
  private static final int VERSION = 0x40;
  private static final int VERSION_MASK = 0xC0;
  private static final int INDEPENDENT = 0x20;
  private static final int BLOCK_CHECKSUM = 0x10;
  private static final int CONTENT_SIZE = 0x08;
  private static final int CONTENT_CHECKSUM = 0x04;
  private static final int DICTIONARY = 0x01;

  /// Block descriptor of 4 MB.
  private static final int FOUR_MEGABYTES = 0x70;

  private static final int BLOCK_BYTES = 4 << 20;
  private static final int STORED = 0x8000_0000;
  private static final int HEADER_BYTES = 7;
  private static final int INT_BYTES = 4;

  private final Lz4JavaCompressor compressor = new Lz4JavaCompressor();
  private final Lz4JavaDecompressor decompressor = new Lz4JavaDecompressor();

  /// Most bytes of a frame.
  int maxBytes(int length) {
    int blocks = length / BLOCK_BYTES + 1;
    return Math.addExact(
        HEADER_BYTES + INT_BYTES * (blocks + 1),
        compressor.maxCompressedLength(length) + 16 * blocks);
  }

  /// @return where the frame ends in `out`
  int compress(byte[] in, int length, byte[] out, int outAt) {
    INTS.set(out, outAt, MAGIC);
    out[outAt + 4] = (byte) (VERSION | INDEPENDENT);
    out[outAt + 5] = FOUR_MEGABYTES;
    out[outAt + 6] = (byte) (XxHash32.of(out, outAt + 4, 2) >>> 8);
    int at = outAt + HEADER_BYTES;
    for (int from = 0; from < length; from += BLOCK_BYTES) {
      int count = Math.min(BLOCK_BYTES, length - from);
      int written =
          compressor.compress(in, from, count, out, at + INT_BYTES, out.length - at - INT_BYTES);
      if (written < count) {
        INTS.set(out, at, written);
      } else {
        written = count;
        System.arraycopy(in, from, out, at + INT_BYTES, count);
        INTS.set(out, at, count | STORED);
      }
      at += INT_BYTES + written;
    }
    INTS.set(out, at, 0);
    return at + INT_BYTES;
  }

  /// Fills `out` with what the frame has.
  ///
  /// @throws EngineException BAD_COPY_FILE_FORMAT when it is none, or has another length
  void decompress(byte[] in, int from, int length, byte[] out) {
    int end = from + length;
    need(from, 7, end);
    int flags = in[from + 4] & 0xFF;
    boolean supported =
        (int) INTS.get(in, from) == MAGIC
            && (flags & VERSION_MASK) == VERSION
            && (flags & DICTIONARY) == 0;
    if (!supported || ((flags & INDEPENDENT) == 0 && out.length > BLOCK_BYTES)) {
      throw broken("has another form");
    }
    int headerEnd = from + 6 + ((flags & CONTENT_SIZE) != 0 ? 8 : 0);
    need(headerEnd, 1, end);
    if (in[headerEnd] != (byte) (XxHash32.of(in, from + 4, headerEnd - from - 4) >>> 8)) {
      throw broken("has a header with another checksum");
    }
    int at = headerEnd + 1;
    int filled = 0;
    while (true) {
      need(at, INT_BYTES, end);
      int size = (int) INTS.get(in, at);
      at += INT_BYTES;
      if (size == 0) {
        break;
      }
      int bytes = size & ~STORED;
      need(at, bytes, end);
      filled = block(in, at, bytes, (size & STORED) != 0, out, filled);
      at += bytes;
      if ((flags & BLOCK_CHECKSUM) != 0) {
        need(at, INT_BYTES, end);
        at += INT_BYTES;
      }
    }
    if (filled != out.length) {
      throw broken("has " + filled + " bytes instead of " + out.length);
    }
    if ((flags & CONTENT_CHECKSUM) != 0) {
      need(at, INT_BYTES, end);
      if ((int) INTS.get(in, at) != XxHash32.of(out, 0, out.length)) {
        throw broken("has another checksum");
      }
    }
  }

  private int block(byte[] in, int at, int bytes, boolean stored, byte[] out, int filled) {
    if (stored) {
      if (bytes > out.length - filled) {
        throw broken("is longer than " + out.length + " bytes");
      }
      System.arraycopy(in, at, out, filled, bytes);
      return filled + bytes;
    }
    try {
      return filled + decompressor.decompress(in, at, bytes, out, filled, out.length - filled);
    } catch (MalformedInputException | IllegalArgumentException e) {
      throw new EngineException(ErrorCode.BAD_COPY_FILE_FORMAT, "a buffer of lz4 is broken", e);
    }
  }

  private static void need(int at, int bytes, int end) {
    if (bytes < 0 || bytes > end - at) {
      throw broken("is cut off");
    }
  }

  private static EngineException broken(String what) {
    return new EngineException(ErrorCode.BAD_COPY_FILE_FORMAT, "a buffer of lz4 " + what);
  }
}
