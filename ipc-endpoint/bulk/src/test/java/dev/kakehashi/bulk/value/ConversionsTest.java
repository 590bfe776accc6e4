package dev.kakehashi.bulk.value;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.kakehashi.bulk.value.FileType.Kind;
import dev.kakehashi.engine.api.bulk.LoadColumn;
import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.formats.TypeName;
import dev.kakehashi.protocol.ErrorCode;
import dev.kakehashi.protocol.RowBatchReader;
import dev.kakehashi.protocol.TypeOid;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ConversionsTest {
  private static final BudgetContext CONTEXT = new BudgetContext(1 << 28);
  private static final ValueOptions EXACT = new ValueOptions(false);

  private static LoadColumn column(int typeOid, int typeModifier) {
    return new LoadColumn(
        "c", typeOid, typeModifier, TypeName.of(typeOid, typeModifier), true, List.of());
  }

  private static FileValues value(FileType type, long value) {
    FileValues values = new FileValues(type);
    values.begin(1);
    values.longs()[0] = value;
    return values;
  }

  private static FileValues value(FileType type, byte[] bytes) {
    FileValues values = new FileValues(type);
    values.begin(1);
    values.setBytes(bytes);
    values.starts()[0] = 0;
    values.lengths()[0] = bytes.length;
    return values;
  }

  private static FileValues text(String text) {
    return value(FileType.TEXT, text.getBytes(StandardCharsets.UTF_8));
  }

  /// The only value as the column has it, or the failure.
  private static RowBatchReader put(FileValues values, LoadColumn column, ValueOptions options) {
    try (ColumnInput input = ColumnInput.of(values.type(), column, options, CONTEXT);
        BatchFill batch = new BatchFill(1, CONTEXT)) {
      RowFailures failures = new RowFailures();
      failures.begin(values.count());
      batch.begin(values.count());
      input.put(values, 0, values.count(), batch, 0, failures);
      EngineException failure = failures.of(0);
      if (failure != null) {
        assertEquals("c", failure.columnName());
        throw failure;
      }
      return new RowBatchReader().wrap(batch.finish());
    }
  }

  private static RowBatchReader put(FileValues values, int typeOid, int typeModifier) {
    return put(values, column(typeOid, typeModifier), EXACT);
  }

  private static ErrorCode refused(FileValues values, int typeOid, int typeModifier) {
    return assertThrows(EngineException.class, () -> put(values, typeOid, typeModifier)).code();
  }

  @ParameterizedTest
  @CsvSource({"32767, true", "-32768, true", "32768, false", "-32769, false"})
  void shouldTakeIntegersThatFit(long value, boolean fits) {
    FileValues values = value(FileType.integer(64, true), value);
    if (fits) {
      assertEquals(value, put(values, TypeOid.INT2, -1).getLong(0, 0));
    } else {
      assertEquals(ErrorCode.NUMERIC_VALUE_OUT_OF_RANGE, refused(values, TypeOid.INT2, -1));
    }
  }

  @Test
  void shouldKnowUnsignedNumbers() {
    FileValues greatest = value(FileType.integer(64, false), -1);
    assertEquals(ErrorCode.NUMERIC_VALUE_OUT_OF_RANGE, refused(greatest, TypeOid.INT8, -1));
    assertEquals(
        new BigDecimal("18446744073709551615"),
        put(greatest, TypeOid.NUMERIC, -1).getBigDecimal(0, 0));
    assertEquals(ErrorCode.NUMERIC_VALUE_OUT_OF_RANGE, refused(greatest, TypeOid.FLOAT8, -1));
    assertEquals(
        0x1p63,
        put(value(FileType.integer(64, false), Long.MIN_VALUE), TypeOid.FLOAT8, -1)
            .getDouble(0, 0));
  }

  @Test
  void shouldTakeFloatsExactlyOrNotAtAll() {
    FileType integer = FileType.integer(64, true);
    assertEquals(
        ErrorCode.NUMERIC_VALUE_OUT_OF_RANGE,
        refused(value(integer, (1L << 53) + 1), TypeOid.FLOAT8, -1));
    assertEquals(
        ErrorCode.NUMERIC_VALUE_OUT_OF_RANGE,
        refused(value(integer, Long.MAX_VALUE), TypeOid.FLOAT8, -1));
    FileType floating = FileType.floating(64);
    FileValues tenth = value(floating, Double.doubleToRawLongBits(0.1));
    assertEquals(ErrorCode.NUMERIC_VALUE_OUT_OF_RANGE, refused(tenth, TypeOid.FLOAT4, -1));
    assertEquals(
        new BigDecimal("0.1000000000000000055511151231257827021181583404541015625"),
        put(tenth, TypeOid.NUMERIC, -1).getBigDecimal(0, 0));
    assertEquals(
        new BigDecimal("0.10"),
        put(tenth, TypeOid.NUMERIC, RandomTable.numeric(5, 2)).getBigDecimal(0, 0));
    FileValues seven = value(floating, Double.doubleToRawLongBits(7));
    assertEquals(7, put(seven, TypeOid.INT4, -1).getInt(0, 0));
    assertEquals(ErrorCode.NUMERIC_VALUE_OUT_OF_RANGE, refused(tenth, TypeOid.INT4, -1));
    FileValues price = value(FileType.decimal(15, 2), 1999);
    assertEquals(19.99, put(price, TypeOid.FLOAT8, -1).getDouble(0, 0));
  }

  @Test
  void shouldWriteNumericAsItsCodecDoes() {
    Random random = new Random(2);
    for (int i = 0; i < 20_000; i++) {
      long unscaled = random.nextLong() >> random.nextInt(64);
      int scale = random.nextInt(19);
      if (Math.abs(unscaled) >= 1_000_000_000_000_000_000L) {
        continue;
      }
      FileValues values = value(FileType.decimal(18, scale), unscaled);
      BigDecimal expected = BigDecimal.valueOf(unscaled, scale);
      RowBatchReader read = put(values, TypeOid.NUMERIC, -1);
      assertEquals(expected, read.getBigDecimal(0, 0));
      org.junit.jupiter.api.Assertions.assertArrayEquals(
          dev.kakehashi.protocol.value.PgNumeric.encode(expected), read.getBytes(0, 0));
      BigInteger wide = BigInteger.valueOf(unscaled);
      FileValues big =
          value(FileType.decimal(Kind.DECIMAL_BIG_ENDIAN, 38, scale), wide.toByteArray());
      assertEquals(expected, put(big, TypeOid.NUMERIC, -1).getBigDecimal(0, 0));
    }
  }

  @ParameterizedTest
  @CsvSource({"12345, 2, 123.45", "12345, 3, 12.35", "12344, 3, 12.34", "-12345, 3, -12.35"})
  void shouldRoundAsAnAssignment(long unscaled, int scale, String expected) {
    FileValues values = value(FileType.decimal(18, scale), unscaled);
    assertEquals(
        new BigDecimal(expected),
        put(values, TypeOid.NUMERIC, RandomTable.numeric(5, 2)).getBigDecimal(0, 0));
  }

  @ParameterizedTest
  @CsvSource({"100000, 2", "99999999, 0", "999995, 3"})
  void shouldRefuseNumbersThatAreTooLong(long unscaled, int scale) {
    FileValues values = value(FileType.decimal(18, scale), unscaled);
    assertEquals(
        ErrorCode.NUMERIC_VALUE_OUT_OF_RANGE,
        refused(values, TypeOid.NUMERIC, RandomTable.numeric(5, 2)));
  }

  @Test
  void shouldNotLoseNanoseconds() {
    FileValues values = value(FileType.timestamp(TimeUnits.NANOS, true), 946_684_800_000_000_001L);
    assertEquals(ErrorCode.DATETIME_OVERFLOW, refused(values, TypeOid.TIMESTAMPTZ, -1));
    assertEquals(
        0, put(values, column(TypeOid.TIMESTAMPTZ, -1), new ValueOptions(true)).getLong(0, 0));
    FileValues whole = value(FileType.timestamp(TimeUnits.NANOS, true), 946_684_800_000_001_000L);
    assertEquals(1, put(whole, TypeOid.TIMESTAMPTZ, -1).getLong(0, 0));
    FileValues far = value(FileType.timestamp(TimeUnits.SECONDS, false), Long.MAX_VALUE);
    assertEquals(ErrorCode.DATETIME_OVERFLOW, refused(far, TypeOid.TIMESTAMP, -1));
    FileValues noon = value(FileType.timestamp(TimeUnits.SECONDS, false), 43_200);
    assertEquals(ErrorCode.DATETIME_OVERFLOW, refused(noon, TypeOid.DATE, -1));
    FileValues rounded = value(FileType.timestamp(TimeUnits.MICROS, false), 946_684_800_000_500L);
    assertEquals(1000, put(rounded, TypeOid.TIMESTAMP, 3).getLong(0, 0));
  }

  @Test
  void shouldReadInt96() {
    byte[] bytes = new byte[12];
    BatchFill.LONGS.set(bytes, 0, 1_000L);
    BatchFill.INTS.set(bytes, 8, 2_451_546);
    assertEquals(
        86_400_000_001L, put(value(FileType.INT96, bytes), TypeOid.TIMESTAMP, -1).getLong(0, 0));
    BatchFill.LONGS.set(bytes, 0, -1L);
    assertEquals(
        ErrorCode.DATETIME_OVERFLOW, refused(value(FileType.INT96, bytes), TypeOid.TIMESTAMP, -1));
    // As a rejected row shows it.
    assertEquals(
        "2000-01-01 23:59:59.999999999",
        put(value(FileType.INT96, bytes), TypeOid.TEXT, -1).getString(0, 0));
  }

  @Test
  void shouldHoldTextsToTheirTypes() {
    assertEquals("a  ", put(text("a"), TypeOid.BPCHAR, 3 + 4).getString(0, 0));
    assertEquals("äöü", put(text("äöü  "), TypeOid.VARCHAR, 3 + 4).getString(0, 0));
    assertEquals(
        ErrorCode.STRING_DATA_RIGHT_TRUNCATION, refused(text("äöüß"), TypeOid.VARCHAR, 3 + 4));
    assertEquals(ErrorCode.CHARACTER_NOT_IN_REPERTOIRE, refused(text("a\0"), TypeOid.TEXT, -1));
    FileValues broken = value(FileType.TEXT, new byte[] {'a', (byte) 0xC0, (byte) 0x80});
    assertEquals(ErrorCode.CHARACTER_NOT_IN_REPERTOIRE, refused(broken, TypeOid.TEXT, -1));
    LoadColumn mood = new LoadColumn("c", TypeOid.TEXT, -1, "mood", true, List.of("ok"));
    assertEquals("ok", put(text("ok"), mood, EXACT).getString(0, 0));
    assertEquals(
        ErrorCode.INVALID_TEXT_REPRESENTATION,
        assertThrows(EngineException.class, () -> put(text("no"), mood, EXACT)).code());
  }

  @ParameterizedTest
  @CsvSource({
    "16, t",
    "21, -1",
    "20, 77",
    "701, 1.5",
    "1700, 1.50",
    "1082, 2024-02-29",
    "1186, 1 day",
    "2950, 00000000-0000-0000-0000-000000000001",
    "3802, '{\"a\": 1}'",
    "1007, '{{1,NULL},{3,4}}'",
    "1007, '[0:1]={1,2}'",
    "17, '\\x00ff'",
    "1266, 12:00:00+05:30"
  })
  void shouldReadTextAsAnyType(int typeOid, String text) {
    RowBatchReader read = put(text(text), typeOid, -1);
    assertFalse(read.isNull(0, 0));
    if (TypeOid.isTextForm(typeOid)) {
      assertEquals(text, read.getString(0, 0));
    }
  }

  @ParameterizedTest
  @CsvSource({"BOOL, 20", "DATE, 20", "DATE, 1083", "BYTES, 20", "BOOL, 1007"})
  void shouldRefuseWhatIsNoValueOfTheType(String kind, int typeOid) {
    FileType type = FileType.of(Kind.valueOf(kind));
    EngineException refused =
        assertThrows(
            EngineException.class, () -> ColumnInput.of(type, column(typeOid, -1), EXACT, CONTEXT));
    assertEquals(ErrorCode.DATATYPE_MISMATCH, refused.code());
  }

  @Test
  void shouldWriteOtherValuesAsText() {
    assertEquals(
        "18446744073709551615",
        put(value(FileType.integer(64, false), -1), TypeOid.TEXT, -1).getString(0, 0));
    assertEquals(
        "1970-01-01 00:00:00.000000001+00",
        put(value(FileType.timestamp(TimeUnits.NANOS, true), 1), TypeOid.TEXT, -1).getString(0, 0));
    assertEquals(
        "0.1",
        put(value(FileType.floating(32), Double.doubleToRawLongBits(0.1f)), TypeOid.VARCHAR, 20 + 4)
            .getString(0, 0));
  }

  @Test
  void shouldKeepNulls() {
    FileValues values = new FileValues(FileType.integer(32, true));
    values.begin(3);
    values.markNulls()[1] = 1;
    values.longs()[0] = Long.MAX_VALUE;
    values.longs()[1] = 5;
    values.longs()[2] = Long.MIN_VALUE;
    RowBatchReader read = put(values, TypeOid.INT2, -1);
    assertTrue(read.isNull(0, 0));
    assertEquals(0, read.getWord(0, 0));
    assertEquals(5, read.getLong(1, 0));
    assertTrue(read.isNull(2, 0));
    assertTrue(put(nothing(), TypeOid.JSON, -1).isNull(0, 0));
  }

  private static FileValues nothing() {
    FileValues values = new FileValues(FileType.NULL);
    values.begin(1);
    return values;
  }

  @Test
  void shouldReadItsExactTypesAndNoOthers() {
    ExactTypes exact =
        ExactTypes.of(
            "SELECT \"ä\"",
            List.of(new LoadColumn("a", 25, -1, "mood", false, List.of("x\"", "y"))));
    assertEquals(exact, ExactTypes.read(exact.json()));
    assertNull(ExactTypes.read("[1]"));
    assertNull(ExactTypes.read("{\"columns\": [{"));
    assertEquals(
        List.of(new ExactTypes.Column("a", "text", true, List.of())),
        java.util.Objects.requireNonNull(
                ExactTypes.read(
                    "{\"version\":2,\"x\":{\"y\":[]},\"columns\":[{\"name\":\"a\",\"type\":\"text\"}]}"))
            .columns());
  }
}
