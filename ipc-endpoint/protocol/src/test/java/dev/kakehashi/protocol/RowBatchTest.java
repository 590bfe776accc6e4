package dev.kakehashi.protocol;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.kakehashi.protocol.value.PgInterval;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.math.BigDecimal;
import java.time.Instant;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.LocalTime;
import java.util.Random;
import java.util.UUID;
import org.junit.jupiter.api.Test;

class RowBatchTest {
  @Test
  void shouldReadBackEveryType() {
    RowBatchWriter writer = RowBatchWriter.growable(14, 2, 1 << 20);
    UUID uuid = UUID.fromString("00112233-4455-6677-8899-aabbccddeeff");
    assertTrue(writer.addRow());
    writer.setBoolean(0, true);
    writer.setLong(1, (short) -7);
    writer.setLong(2, Integer.MIN_VALUE);
    writer.setLong(3, Long.MIN_VALUE);
    writer.setFloat(4, -1.5f);
    writer.setDouble(5, Math.PI);
    writer.setDate(6, LocalDate.of(1999, 12, 31));
    writer.setTime(7, LocalTime.of(23, 59, 59, 999_999_000));
    writer.setTimestamp(8, LocalDateTime.of(1969, 1, 1, 0, 0, 0, 1000));
    writer.setTimestamptz(9, Instant.parse("2026-11-21T01:02:03.000004Z"));
    assertTrue(writer.setString(10, "懸け橋"));
    assertTrue(writer.setNumeric(11, new BigDecimal("-12345.6780")));
    assertTrue(writer.setUuid(12, uuid));
    assertTrue(writer.setInterval(13, new PgInterval(-1, 2, -3)));
    assertTrue(writer.addRow());
    for (int column = 0; column < 14; column++) {
      writer.setNull(column);
    }
    assertFalse(writer.addRow());
    assertEquals(writer.finish(), writer.batch().byteSize());

    RowBatchReader reader = new RowBatchReader().wrap(writer.batch());
    assertEquals(2, reader.rowCount());
    assertTrue(reader.getBoolean(0, 0));
    assertEquals(-7, reader.getShort(0, 1));
    assertEquals(Integer.MIN_VALUE, reader.getInt(0, 2));
    assertEquals(Long.MIN_VALUE, reader.getLong(0, 3));
    assertEquals(-1.5f, reader.getFloat(0, 4));
    assertEquals(Math.PI, reader.getDouble(0, 5));
    assertEquals(-1, reader.getInt(0, 6));
    assertEquals(LocalDate.of(1999, 12, 31), reader.getDate(0, 6));
    assertEquals(LocalTime.of(23, 59, 59, 999_999_000), reader.getTime(0, 7));
    assertEquals(LocalDateTime.of(1969, 1, 1, 0, 0, 0, 1000), reader.getTimestamp(0, 8));
    assertEquals(Instant.parse("2026-11-21T01:02:03.000004Z"), reader.getTimestamptz(0, 9));
    assertEquals("懸け橋", reader.getString(0, 10));
    assertEquals(new BigDecimal("-12345.6780"), reader.getBigDecimal(0, 11));
    assertEquals(uuid, reader.getUuid(0, 12));
    assertEquals(new PgInterval(-1, 2, -3), reader.getInterval(0, 13));
    for (int column = 0; column < 14; column++) {
      assertFalse(reader.isNull(0, column));
      assertTrue(reader.isNull(1, column));
      assertEquals(0, reader.getWord(1, column));
    }
  }

  @Test
  void shouldKeepInfinityOfDatesAndTimestamps() {
    RowBatchWriter writer = RowBatchWriter.growable(2, 2, 4096);
    writer.addRow();
    writer.setDate(0, LocalDate.MAX);
    writer.setTimestamptz(1, Instant.MIN);
    writer.finish();
    RowBatchReader reader = new RowBatchReader().wrap(writer.batch());
    assertEquals(Integer.MAX_VALUE, reader.getInt(0, 0));
    assertEquals(Long.MIN_VALUE, reader.getLong(0, 1));
    assertEquals(LocalDate.MAX, reader.getDate(0, 0));
    assertEquals(Instant.MIN, reader.getTimestamptz(0, 1));
  }

  @Test
  void shouldUseBitmapWordsBeyond64Columns() {
    RowBatchWriter writer = RowBatchWriter.growable(130, 1, 1 << 20);
    writer.addRow();
    for (int column = 0; column < 130; column += 3) {
      writer.setNull(column);
    }
    writer.finish();
    RowBatchReader reader = new RowBatchReader().wrap(writer.batch());
    for (int column = 0; column < 130; column++) {
      assertEquals(column % 3 == 0, reader.isNull(0, column));
    }
  }

  @Test
  void shouldBeNoLongerThanItsRowsNeed() {
    RowBatchWriter writer = RowBatchWriter.growable(2, 1024, 1 << 16);
    writer.addRow();
    assertEquals(RowBatchLayout.HEADER_BYTES + RowBatchLayout.rowStride(2), writer.finish());
    for (int row = 1; row < 1024; row++) {
      assertTrue(writer.addRow());
    }
    assertFalse(writer.addRow());
    writer.reset();
    writer.addRow();
    writer.reset();
    writer.addRow();
    assertEquals(RowBatchLayout.HEADER_BYTES + RowBatchLayout.rowStride(2), writer.finish());
  }

  @Test
  void shouldKeepHeapValuesWhileItGrows() {
    RowBatchWriter writer = RowBatchWriter.growable(3, 100, 1 << 16);
    for (int round = 0; round < 2; round++) {
      for (int row = 0; row < 100; row++) {
        assertTrue(writer.addRow());
        writer.setLong(0, row);
        assertTrue(writer.setString(1, "replaced"));
        assertTrue(writer.setString(1, "text " + row));
        if (row % 7 == 0) {
          writer.setNull(1);
        }
        assertTrue(writer.setBytes(2, new byte[row]));
        if (row % 10 == 9) { // the row is written again
          writer.dropRow();
          assertTrue(writer.addRow());
          writer.setLong(0, row);
          assertTrue(writer.setString(1, "text " + row));
          assertTrue(writer.setBytes(2, new byte[row]));
        }
      }
      writer.finish();
      RowBatchReader reader = new RowBatchReader().wrap(writer.batch());
      for (int row = 0; row < 100; row++) {
        assertEquals(row, reader.getLong(row, 0));
        boolean isNull = row % 7 == 0 && row % 10 != 9;
        assertEquals(isNull, reader.isNull(row, 1));
        if (!isNull) {
          assertEquals("text " + row, reader.getString(row, 1));
        }
        assertEquals(row, reader.getBytes(row, 2).length);
      }
      writer.reset();
    }
  }

  @Test
  void shouldTakeBackRowThatDoesNotFit() {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment memory = arena.allocate(256, 8);
      RowBatchWriter writer = RowBatchWriter.fixed(memory, 1, 4);
      assertTrue(writer.addRow());
      assertTrue(writer.setString(0, "fits"));
      int bytes = writer.finish();
      assertTrue(writer.addRow());
      assertFalse(writer.setBytes(0, new byte[200]));
      writer.dropRow();
      assertEquals(bytes, writer.finish());
      RowBatchReader reader = new RowBatchReader().wrap(memory.asSlice(0, bytes));
      assertEquals(1, reader.rowCount());
      assertEquals("fits", reader.getString(0, 0));
      assertArrayEquals(
          "fits".getBytes(java.nio.charset.StandardCharsets.UTF_8), reader.getBytes(0, 0));
    }
  }

  @Test
  void shouldRefuseOffsetsOutsideHeap() {
    RowBatchWriter writer = RowBatchWriter.growable(1, 1, 4096);
    writer.addRow();
    writer.setString(0, "value");
    int bytes = writer.finish();
    for (long offset : new long[] {0, 40, 49, bytes, bytes - 3, -8, 1L << 40, Long.MAX_VALUE - 7}) {
      writer.setLong(0, offset);
      RowBatchReader reader = new RowBatchReader().wrap(writer.batch());
      assertThrows(MalformedFrameException.class, () -> reader.getString(0, 0), "offset " + offset);
    }
  }

  @Test
  void shouldFindAZeroByteWhereverItIs() {
    for (int length = 0; length < 20; length++) {
      assertFalse(hasZeroByte("ü".repeat(length)), "none in " + length);
      for (int at = 0; at < length; at++) {
        assertTrue(hasZeroByte("a".repeat(at) + "\0" + "\u0001".repeat(length - 1 - at)));
      }
    }
  }

  private static boolean hasZeroByte(String text) {
    RowBatchWriter writer = RowBatchWriter.growable(1, 1, 4096);
    writer.addRow();
    assertTrue(writer.setString(0, text));
    writer.finish();
    return new RowBatchReader().wrap(writer.batch()).hasZeroByte(0, 0);
  }

  /// Whatever bytes arrive, reading ends in a value or in a refusal, never in another error.
  @Test
  void shouldSurviveMutatedBatches() {
    long seed = System.nanoTime();
    Random random = new Random(seed);
    int[] types = {TypeOid.TEXT, TypeOid.NUMERIC, TypeOid.UUID, TypeOid.INT8};
    RowBatchWriter writer = RowBatchWriter.growable(4, 3, 4096);
    for (int i = 0; i < 3; i++) {
      writer.addRow();
      writer.setString(0, "row " + i);
      writer.setNumeric(1, BigDecimal.valueOf(i * 12345L, 3));
      writer.setUuid(2, new UUID(i, i));
      writer.setLong(3, i);
    }
    writer.finish();
    byte[] good = writer.batch().toArray(java.lang.foreign.ValueLayout.JAVA_BYTE);
    int refused = 0;
    for (int round = 0; round < 50_000; round++) {
      byte[] bytes = good.clone();
      for (int i = random.nextInt(4); i >= 0; i--) {
        bytes[random.nextInt(random.nextBoolean() ? 40 : bytes.length)] = (byte) random.nextInt();
      }
      int length = random.nextInt(10) == 0 ? random.nextInt(bytes.length + 1) : bytes.length;
      try {
        RowBatchReader reader =
            new RowBatchReader().wrap(MemorySegment.ofArray(bytes).asSlice(0, length));
        reader.checkValues(types);
        for (int row = 0; row < reader.rowCount(); row++) {
          if (!reader.isNull(row, 0)) {
            reader.getString(row, 0);
          }
          if (!reader.isNull(row, 1)) {
            reader.getNumeric(row, 1);
          }
          if (!reader.isNull(row, 2)) {
            reader.getUuid(row, 2);
          }
        }
      } catch (MalformedFrameException e) {
        refused++;
      } catch (RuntimeException e) {
        throw new AssertionError("seed " + seed + " round " + round, e);
      }
    }
    assertTrue(refused > 1000, "only " + refused + " mutations were refused, seed " + seed);
  }
}
