package dev.kakehashi.bulk.parquet.read;

import dev.kakehashi.engine.api.bulk.BulkContext;

/// Pieces of bytes after their lengths, which are written as differences; each may begin as the one before (DELTA_LENGTH_BYTE_ARRAY,
/// DELTA_BYTE_ARRAY).
final class DeltaPieces implements ValueDecoder {
  private static final int BLOCK = 1024;

  private static final int MAX_PREFIXED = 256;

  /// To find the bytes, all lengths of a page are stepped over.
  private static final int MAX_VALUES = 1 << 26;

  private final boolean prefixed;
  private final int width;
  private final int maxBytes;
  private final DeltaDecoder prefixes = new DeltaDecoder();
  private final DeltaDecoder suffixes = new DeltaDecoder();
  private final long[] prefixBlock = new long[BLOCK];
  private final long[] suffixBlock = new long[BLOCK];
  private final ReadSpace joined;
  private byte[] source = {};
  private int at;
  private int end;

  /// The last piece, which the next one may begin as.
  private int lastStart;

  private int lastLength;

  /// @param prefixed whether pieces may begin as the one before
  /// @param width bytes of a value; 0: they vary
  DeltaPieces(boolean prefixed, int width, int maxBytes, BulkContext context) {
    this.prefixed = prefixed;
    this.width = width;
    this.maxBytes = maxBytes;
    this.joined = new ReadSpace(context);
  }

  @Override
  public void open(byte[] bytes, int from, int to, int most) {
    if (most > MAX_VALUES) {
      throw Damage.of("a page of " + most + " values");
    }
    source = bytes;
    end = to;
    int next = from;
    if (prefixed) {
      next = endOf(prefixes, next, most);
      prefixes.open(bytes, from, to, most);
    }
    int suffixesAt = next;
    at = endOf(suffixes, next, most);
    suffixes.open(bytes, suffixesAt, to, most);
    if (prefixed && prefixes.remaining() != suffixes.remaining()) {
      throw Damage.of("a page has not as many beginnings as ends");
    }
    lastStart = 0;
    lastLength = 0;
  }

  /// Steps over differences.
  private int endOf(DeltaDecoder decoder, int from, int max) {
    decoder.open(source, from, end, max);
    while (decoder.remaining() > 0) {
      decoder.read(suffixBlock, 0, Math.min(BLOCK, decoder.remaining()));
    }
    return decoder.end();
  }

  @Override
  public void longs(long[] into, int from, int count) {
    throw new IllegalStateException("values are pieces");
  }

  @Override
  public void pieces(int[] starts, int[] lengths, int from, int count) {
    int used = 0;
    if (prefixed) {
      // The last piece stays, as the first bytes.
      byte[] out = joined.room(lastLength, lastStart + lastLength);
      System.arraycopy(out, lastStart, out, 0, lastLength);
      lastStart = 0;
      used = lastLength;
    }
    for (int done = 0; done < count; done += BLOCK) {
      int taken = Math.min(BLOCK, count - done);
      suffixes.read(suffixBlock, 0, taken);
      if (prefixed) {
        prefixes.read(prefixBlock, 0, taken);
      }
      for (int i = 0; i < taken; i++) {
        int to = from + done + i;
        long suffix = suffixBlock[i];
        if (suffix < 0 || suffix > end - at) {
          throw Damage.of("a value leaves its page");
        }
        if (prefixed) {
          used = join(used, prefixBlock[i], (int) suffix);
          starts[to] = lastStart;
          lengths[to] = lastLength;
        } else {
          starts[to] = at;
          lengths[to] = (int) suffix;
        }
        check(lengths[to]);
        at += (int) suffix;
      }
    }
  }

  private void check(int length) {
    if (width > 0 && length != width) {
      throw Damage.of("a value of " + length + " bytes instead of " + width);
    }
    if (length > maxBytes || (length == 0 && maxBytes < Integer.MAX_VALUE)) {
      throw Damage.of("a decimal of " + length + " bytes");
    }
  }

  private int join(int used, long prefix, int suffix) {
    if (prefix < 0 || prefix > lastLength) {
      throw Damage.of("a value begins as more than the one before");
    }
    int kept = (int) prefix;
    byte[] out = joined.room((long) used + kept + suffix, used);
    System.arraycopy(out, lastStart, out, used, kept);
    System.arraycopy(source, at, out, used + kept, suffix);
    lastStart = used;
    lastLength = kept + suffix;
    return used + lastLength;
  }

  /// Pieces that may begin as the one before are copied.
  @Override
  public int mostAtOnce() {
    return prefixed ? MAX_PREFIXED : Integer.MAX_VALUE;
  }

  @Override
  public byte[] bytes() {
    return prefixed ? joined.bytes() : source;
  }

  /// Gives its memory back.
  @Override
  public void close() {
    joined.close();
  }
}
