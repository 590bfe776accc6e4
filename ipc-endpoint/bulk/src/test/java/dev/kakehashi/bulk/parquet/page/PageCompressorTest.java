package dev.kakehashi.bulk.parquet.page;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.airlift.compress.v3.zstd.ZstdJavaDecompressor;
import java.util.Arrays;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class PageCompressorTest {
  private static final int OFFSET = 7;

  private static byte[] page(int bytes, boolean isText) {
    Random random = new Random(bytes);
    byte[] page = new byte[OFFSET + bytes];
    random.nextBytes(page);
    for (int i = 0; isText && i < page.length; i++) {
      page[i] = (byte) "the words of a text ".charAt(Math.floorMod(i * 7 / 5, 20));
    }
    return page;
  }

  private static byte[] decompressed(byte[] out, int length, int bytes) {
    byte[] back = new byte[bytes];
    assertEquals(bytes, new ZstdJavaDecompressor().decompress(out, 0, length, back, 0, bytes));
    return back;
  }

  @ParameterizedTest
  @ValueSource(ints = {0, 1, 1000, 1 << 20, SystemZstd.MOST_BYTES, SystemZstd.MOST_BYTES + 1})
  void shouldGivePagesOfAnyLengthBack(int bytes) {
    try (PageCompressor compressor = new PageCompressor()) {
      for (boolean isText : new boolean[] {true, false}) {
        byte[] page = page(bytes, isText);
        byte[] out = new byte[(int) compressor.maxBytes(ParquetCodec.ZSTD, bytes)];
        int length = compressor.compress(ParquetCodec.ZSTD, page, OFFSET, bytes, out);
        assertArrayEquals(
            Arrays.copyOfRange(page, OFFSET, OFFSET + bytes), decompressed(out, length, bytes));
      }
    }
  }

  @Test
  void shouldCompressAgainAfterItWasClosed() {
    PageCompressor compressor = new PageCompressor();
    byte[] page = page(100_000, true);
    byte[] out = new byte[(int) compressor.maxBytes(ParquetCodec.ZSTD, 100_000)];
    for (int i = 0; i < 3; i++) {
      int length = compressor.compress(ParquetCodec.ZSTD, page, OFFSET, 100_000, out);
      assertTrue(length < 10_000);
      assertArrayEquals(
          Arrays.copyOfRange(page, OFFSET, OFFSET + 100_000), decompressed(out, length, 100_000));
      compressor.close();
    }
  }
}
