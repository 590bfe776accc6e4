package dev.kakehashi.engine.type.application;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.engine.type.value.Values;
import dev.kakehashi.engine.vector.VarHeap;
import dev.kakehashi.protocol.ErrorCode;
import dev.kakehashi.protocol.TypeOid;
import java.math.BigDecimal;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.LocalTime;
import java.util.UUID;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.function.Executable;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class JavaValuesTest {
  private final VarHeap heap = new VarHeap();

  @AfterEach
  void free() {
    heap.close();
  }

  private void shouldKeep(int oid, String text, Object object) {
    Object made = JavaValues.toObject(oid, Values.parse(oid, text, heap));
    assertSame(object.getClass(), made.getClass());
    // Compares arrays by their elements.
    assertArrayEquals(new Object[] {object}, new Object[] {made});
    long word = JavaValues.ofObject(oid, object, heap);
    assertEquals(text, Values.toText(oid, word));
  }

  private static void shouldRefuse(ErrorCode code, Executable call) {
    assertEquals(code, assertThrows(EngineException.class, call).code());
  }

  @Test
  void shouldKeepValuesOfEachType() {
    shouldKeep(TypeOid.BOOL, "t", true);
    shouldKeep(TypeOid.INT2, "-32768", Short.MIN_VALUE);
    shouldKeep(TypeOid.INT4, "-7", -7);
    shouldKeep(TypeOid.INT8, "9223372036854775807", Long.MAX_VALUE);
    shouldKeep(TypeOid.FLOAT4, "1.5", 1.5f);
    shouldKeep(TypeOid.FLOAT8, "-0.25", -0.25);
    shouldKeep(
        TypeOid.NUMERIC, "12345678901234567890.10", new BigDecimal("12345678901234567890.10"));
    shouldKeep(TypeOid.TEXT, "橋 ok", "橋 ok");
    shouldKeep(TypeOid.BYTEA, "\\x00ff", new byte[] {0, -1});
    shouldKeep(TypeOid.DATE, "1999-12-31", LocalDate.of(1999, 12, 31));
    shouldKeep(TypeOid.TIME, "23:59:59.999999", LocalTime.of(23, 59, 59, 999_999_000));
    shouldKeep(TypeOid.TIMESTAMP, "1969-07-20 20:17:40", LocalDateTime.of(1969, 7, 20, 20, 17, 40));
    shouldKeep(
        TypeOid.TIMESTAMPTZ, "2026-01-01 00:00:00+00", Instant.parse("2026-01-01T00:00:00Z"));
    shouldKeep(TypeOid.INTERVAL, "3 days 04:05:06.000007", Duration.parse("P3DT4H5M6.000007S"));
    shouldKeep(
        TypeOid.UUID,
        "a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11",
        UUID.fromString("a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11"));
    shouldKeep(TypeOid.JSONB, "{\"a\": 1}", "{\"a\": 1}");
  }

  @Test
  void shouldKeepArraysWithNulls() {
    shouldKeep(TypeOid.arrayOf(TypeOid.INT4), "{1,NULL,-3}", new Object[] {1, null, -3});
    shouldKeep(TypeOid.arrayOf(TypeOid.TEXT), "{\"a b\",\"\"}", new Object[] {"a b", ""});
    shouldKeep(TypeOid.arrayOf(TypeOid.NUMERIC), "{}", new Object[0]);
  }

  @Test
  void shouldKeepInfinitiesOfTimes() {
    shouldKeep(TypeOid.DATE, "infinity", LocalDate.MAX);
    shouldKeep(TypeOid.TIMESTAMPTZ, "-infinity", Instant.MIN);
  }

  @Test
  void shouldKeepNegativeDurations() {
    for (Duration duration :
        new Duration[] {Duration.ofMillis(-1), Duration.parse("-P2DT1H"), Duration.ofDays(40)}) {
      long word = JavaValues.ofObject(TypeOid.INTERVAL, duration, heap);
      assertEquals(duration, JavaValues.toObject(TypeOid.INTERVAL, word));
    }
  }

  @ParameterizedTest
  @CsvSource({
    "NUMERIC_VALUE_OUT_OF_RANGE, 1700, NaN",
    "DATETIME_OVERFLOW, 1083, 24:00:00",
    "INTERVAL_FIELD_OVERFLOW, 1186, 1 month",
    "FEATURE_NOT_SUPPORTED, 1007, '{{1,2},{3,4}}'"
  })
  void shouldRefuseWhatAClassDoesNotHave(ErrorCode code, int oid, String text) {
    long word = Values.parse(oid, text, heap);
    shouldRefuse(code, () -> JavaValues.toObject(oid, word));
  }

  @Test
  void shouldRefuseWhatATypeDoesNotHave() {
    shouldRefuse(
        ErrorCode.DATETIME_OVERFLOW,
        () -> JavaValues.ofObject(TypeOid.DATE, LocalDate.of(9_999_999, 1, 1), heap));
    shouldRefuse(
        ErrorCode.DATETIME_OVERFLOW,
        () -> JavaValues.ofObject(TypeOid.TIMESTAMPTZ, Instant.MAX.minusSeconds(1), heap));
    shouldRefuse(ErrorCode.DATATYPE_MISMATCH, () -> JavaValues.ofObject(TypeOid.INT8, "7", heap));
    shouldRefuse(
        ErrorCode.CHARACTER_NOT_IN_REPERTOIRE,
        () -> JavaValues.ofObject(TypeOid.TEXT, "a\0b", heap));
  }
}
