package dev.kakehashi.engine.store.row;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.engine.store.api.ColumnKind;
import dev.kakehashi.engine.store.api.Placement;
import dev.kakehashi.engine.store.index.StoredWord;
import dev.kakehashi.engine.store.index.ValueCodec;
import dev.kakehashi.engine.store.memory.MemoryPool;
import dev.kakehashi.engine.store.memory.Native;
import dev.kakehashi.engine.store.memory.NativeInput;
import dev.kakehashi.engine.vector.CompactWord;
import dev.kakehashi.protocol.ErrorCode;
import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/// Rows of directories are read by the format as it is written down, not as the present code writes them.
final class RowCodecTest {
  private static final boolean[] LIVE = {true, true, true};

  private final MemoryPool pool = new MemoryPool(64 << 20);
  private final RowLayout layout =
      new RowLayout(
          Placement.of(List.of(ColumnKind.INTEGER, ColumnKind.VARLENA, ColumnKind.INTEGER), true),
          pool);
  private final RowVersion version = new RowVersion(3);

  @AfterEach
  void freeMemory() {
    pool.close();
  }

  private static void putVarint(ByteArrayOutputStream to, long value) {
    long rest = value;
    for (; rest >>> 7 != 0; rest >>>= 7) {
      to.write(((int) rest & 0x7F) | 0x80);
    }
    to.write((int) rest);
  }

  private static long zigzag(long value) {
    return value << 1 ^ value >> 63;
  }

  private static byte[] row(long first, byte[] text, long last) {
    ByteArrayOutputStream row = new ByteArrayOutputStream();
    putVarint(row, 3);
    row.write(0);
    putVarint(row, zigzag(first));
    putVarint(row, text.length);
    row.writeBytes(text);
    putVarint(row, zigzag(last));
    return row.toByteArray();
  }

  private void decode(byte[] row) {
    RowCodec.decode(layout, LIVE, NativeInput.of(ByteBuffer.wrap(row)), pool, version);
  }

  private void assertCorrupted(byte[] row) {
    EngineException e = assertThrows(EngineException.class, () -> decode(row));
    assertEquals(ErrorCode.DATA_CORRUPTED, e.code());
  }

  private void assertRow(long first, byte[] text, long last) {
    decode(row(first, text, last));
    assertEquals(first, version.words[0]);
    assertEquals(text.length <= 7, CompactWord.isCompact(version.words[1]));
    long value = StoredWord.address(version.words[1]);
    if (CompactWord.isCompact(version.words[1])) {
      value = pool.allocate(CompactWord.MOST_BYTES);
      CompactWord.write(version.words[1], value);
    }
    assertEquals((text.length + 4) << 2, Native.getInt(value));
    byte[] found = new byte[text.length];
    Native.copyToArray(value + 4, found, 0, found.length);
    assertEquals(ByteBuffer.wrap(text), ByteBuffer.wrap(found));
    assertEquals(last, version.words[2]);
    assertFalse(version.nulls[0] || version.nulls[1] || version.nulls[2]);
    if (!StoredWord.isShared(version.words[1])) {
      pool.free(value, text.length + 4L);
    }
  }

  @Test
  void shouldReadNumbersOfAllLengths() {
    for (int bits = 0; bits < 64; bits++) {
      for (long near = -1; near <= 1; near++) {
        long value = (1L << bits) + near;
        for (int length : new int[] {0, 1, 7, 8, 9, 31, 32, 33, 200}) {
          byte[] text = new byte[length];
          new Random(bits).nextBytes(text);
          assertRow(value, text, -value);
          assertRow(bits, text, value);
        }
      }
    }
  }

  @Test
  void shouldReadOneNumberAlone() {
    for (int bits = 0; bits < 64; bits++) {
      ByteArrayOutputStream value = new ByteArrayOutputStream();
      putVarint(value, zigzag(-1L << bits));
      ByteBuffer buffer = ByteBuffer.wrap(value.toByteArray());
      assertEquals(-1L << bits, ValueCodec.decodeValue(ColumnKind.INTEGER, buffer, pool));
    }
  }

  @Test
  void shouldRefuseRowsThatEndEarlyOrLate() {
    for (long number : new long[] {0, 1L << 40, Long.MIN_VALUE, Long.MAX_VALUE}) {
      byte[] row = row(number, new byte[] {1, 2, 3}, number);
      for (int length = 0; length < row.length; length++) {
        byte[] cut = java.util.Arrays.copyOf(row, length);
        // Bytes behind the limit must not be read, even if they are there.
        NativeInput input = NativeInput.of(ByteBuffer.wrap(row));
        input.set(input.address(), length);
        EngineException e =
            assertThrows(
                EngineException.class, () -> RowCodec.decode(layout, LIVE, input, pool, version));
        assertEquals(ErrorCode.DATA_CORRUPTED, e.code());
        assertCorrupted(cut);
      }
      assertCorrupted(java.util.Arrays.copyOf(row, row.length + 1));
    }
  }

  @Test
  void shouldRefuseNumbersThatAreTooLong() {
    byte[] row = new byte[20];
    row[0] = 3;
    java.util.Arrays.fill(row, 2, 12, (byte) 0x80);
    EngineException e = assertThrows(EngineException.class, () -> decode(row));
    assertEquals(ErrorCode.DATA_CORRUPTED, e.code());
    assertTrue(String.valueOf(e.getMessage()).contains("more than 10 bytes"), e.getMessage());
  }
}
