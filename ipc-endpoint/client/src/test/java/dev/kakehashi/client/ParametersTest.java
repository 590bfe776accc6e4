package dev.kakehashi.client;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.params.provider.Arguments.arguments;

import dev.kakehashi.protocol.RowBatchReader;
import dev.kakehashi.protocol.TypeOid;
import dev.kakehashi.protocol.value.PgInterval;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.math.BigDecimal;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.LocalTime;
import java.time.OffsetDateTime;
import java.util.UUID;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/// Java values become the words and heap values that the endpoint reads.
class ParametersTest {
  private static final int MOST_BYTES = 4096;

  private static Parameters of(int... typeOids) {
    return Parameters.inline(typeOids, MOST_BYTES);
  }

  /// The batch as the endpoint sees it.
  private static RowBatchReader read(Parameters parameters) {
    parameters.writer().finish();
    return new RowBatchReader().wrap(parameters.writer().batch());
  }

  @Test
  void shouldWriteValuesOfEachType() {
    UUID uuid = new UUID(1, -2);
    PgInterval interval = new PgInterval(1, -2, 3);
    byte[] bytes = "a\0b".getBytes(StandardCharsets.ISO_8859_1);
    RowBatchReader row =
        read(
            of(
                    TypeOid.BOOL,
                    TypeOid.INT2,
                    TypeOid.INT4,
                    TypeOid.INT8,
                    TypeOid.FLOAT4,
                    TypeOid.FLOAT8,
                    TypeOid.DATE,
                    TypeOid.TIME,
                    TypeOid.TIMESTAMP,
                    TypeOid.TIMESTAMPTZ,
                    TypeOid.TIMESTAMPTZ,
                    TypeOid.UUID,
                    TypeOid.INTERVAL,
                    TypeOid.NUMERIC,
                    TypeOid.NUMERIC,
                    TypeOid.BYTEA,
                    TypeOid.TEXT)
                .addRow(
                    true,
                    Short.MIN_VALUE,
                    Integer.MIN_VALUE,
                    Long.MIN_VALUE,
                    -0.5f,
                    1e300,
                    LocalDate.of(1999, 12, 31),
                    LocalTime.of(23, 59, 59),
                    LocalDateTime.of(1999, 12, 31, 23, 59),
                    Instant.parse("1999-12-31T23:59:00Z"),
                    OffsetDateTime.parse("2000-01-01T00:59:00+01:00"),
                    uuid,
                    interval,
                    new BigDecimal("-1.50"),
                    7,
                    bytes,
                    "bridge \u61f8"));
    assertTrue(row.getBoolean(0, 0));
    assertEquals(Short.MIN_VALUE, row.getShort(0, 1));
    assertEquals(Integer.MIN_VALUE, row.getInt(0, 2));
    assertEquals(Long.MIN_VALUE, row.getLong(0, 3));
    assertEquals(-0.5f, row.getFloat(0, 4));
    assertEquals(1e300, row.getDouble(0, 5));
    assertEquals(LocalDate.of(1999, 12, 31), row.getDate(0, 6));
    assertEquals(LocalTime.of(23, 59, 59), row.getTime(0, 7));
    assertEquals(LocalDateTime.of(1999, 12, 31, 23, 59), row.getTimestamp(0, 8));
    assertEquals(Instant.parse("1999-12-31T23:59:00Z"), row.getTimestamptz(0, 9));
    assertEquals(row.getTimestamptz(0, 9), row.getTimestamptz(0, 10));
    assertEquals(uuid, row.getUuid(0, 11));
    assertEquals(interval, row.getInterval(0, 12));
    assertEquals(new BigDecimal("-1.50"), row.getBigDecimal(0, 13));
    assertEquals(new BigDecimal("7"), row.getBigDecimal(0, 14));
    assertArrayEquals(bytes, row.getBytes(0, 15));
    assertEquals("bridge \u61f8", row.getString(0, 16));
  }

  @Test
  void shouldTellNullsFromZeros() {
    RowBatchReader rows = read(of(TypeOid.INT8, TypeOid.TEXT).addRow(0L, null).addRow(null, ""));
    assertFalse(rows.isNull(0, 0));
    assertTrue(rows.isNull(0, 1));
    assertTrue(rows.isNull(1, 0));
    assertFalse(rows.isNull(1, 1));
  }

  @ParameterizedTest
  @ValueSource(strings = {"a\0b", "\ud800", "a\udc00\ud800", "\ud83d."})
  void shouldRefuseTextThatPostgresCannotHold(String text) {
    Parameters parameters = of(TypeOid.INT4, TypeOid.TEXT);
    EndpointException refused =
        assertThrows(EndpointException.class, () -> parameters.addRow(2, text));
    assertEquals("22021", refused.sqlstate());
    assertTrue(String.valueOf(refused.getMessage()).contains("$2"), refused.toString());
    assertEquals(1, read(parameters.addRow(3, "\ud83d\ude00")).rowCount());
  }

  static Stream<Arguments> misfits() {
    return Stream.of(
        arguments(TypeOid.INT2, 1 << 15),
        arguments(TypeOid.INT4, 1L << 31),
        arguments(TypeOid.INT8, new BigDecimal("1")),
        arguments(TypeOid.BOOL, 1),
        arguments(TypeOid.TEXT, 1),
        arguments(TypeOid.NUMERIC, 1.5),
        arguments(TypeOid.DATE, LocalDateTime.of(2000, 1, 1, 0, 0)));
  }

  @ParameterizedTest
  @MethodSource("misfits")
  void shouldRefuseARowWithAValueThatItsTypeCannotHold(int typeOid, Object value) {
    Parameters parameters = of(TypeOid.INT4, typeOid);
    parameters.addRow(1, null);
    EndpointException refused =
        assertThrows(EndpointException.class, () -> parameters.addRow(2, value));
    assertEquals("42804", refused.sqlstate());
    assertTrue(String.valueOf(refused.getMessage()).contains("$2"), refused.toString());
    assertEquals(1, parameters.rowCount(), "nothing of the row stays");
    RowBatchReader rows = read(parameters.addRow(3, null));
    assertEquals(2, rows.rowCount());
    assertEquals(3, rows.getInt(1, 0));
  }

  @Test
  void shouldRefuseAnotherNumberOfValues() {
    EndpointException refused =
        assertThrows(EndpointException.class, () -> of(TypeOid.INT4).addRow(1, 2));
    assertEquals("42P02", refused.sqlstate());
  }

  @Test
  void shouldSayWhenTheBatchIsFullAndKeepItsRows() {
    Parameters parameters = of(TypeOid.INT4, TypeOid.TEXT);
    String text = "x".repeat(100);
    int rows = 0;
    while (parameters.tryAddRow(rows, text)) {
      rows++;
    }
    assertTrue(rows > 10, "rows of a batch: " + rows);
    assertEquals(rows, parameters.rowCount());
    EndpointException refused =
        assertThrows(EndpointException.class, () -> parameters.addRow(0, text));
    assertEquals("54000", refused.sqlstate());

    RowBatchReader batch = read(parameters);
    assertTrue(batch.batchBytes() <= MOST_BYTES);
    assertEquals(rows, batch.rowCount());
    for (int row = 0; row < rows; row++) {
      assertEquals(row, batch.getInt(row, 0));
      assertEquals(text, batch.getString(row, 1));
    }
    parameters.reset();
    assertEquals("again", read(parameters.addRow(1, "again")).getString(0, 1));
  }

  @Test
  void shouldStayWithinTheMemoryOfAnInboundBuffer() {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment memory = arena.allocate(2 * MOST_BYTES);
      memory.fill((byte) 0x5A);
      Parameters parameters =
          Parameters.inbound(
              new int[] {TypeOid.INT4, TypeOid.TEXT}, memory.asSlice(0, MOST_BYTES), 16);
      int rows = 0;
      while (parameters.tryAddRow(rows, "12345678")) {
        rows++;
      }
      assertTrue(rows > 50, "rows of a buffer: " + rows);
      RowBatchReader batch = read(parameters);
      assertEquals(rows, batch.rowCount());
      assertEquals(rows - 1, batch.getInt(rows - 1, 0));
      assertEquals(memory.address(), parameters.writer().batch().address());
      for (long at = MOST_BYTES; at < memory.byteSize(); at++) {
        assertEquals(0x5A, memory.get(java.lang.foreign.ValueLayout.JAVA_BYTE, at));
      }
    }
  }
}
