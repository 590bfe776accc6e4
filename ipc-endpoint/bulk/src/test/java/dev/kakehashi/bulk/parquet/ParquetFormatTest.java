package dev.kakehashi.bulk.parquet;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.kakehashi.bulk.parquet.page.ParquetCodec;
import dev.kakehashi.bulk.parquet.page.ParquetOptions;
import dev.kakehashi.bulk.parquet.page.ParquetOptions.Infinity;
import dev.kakehashi.bulk.parquet.page.ParquetOptions.NumericType;
import dev.kakehashi.bulk.value.BudgetContext;
import dev.kakehashi.bulk.value.MemoryFile;
import dev.kakehashi.engine.api.bulk.InspectedItem;
import dev.kakehashi.engine.api.bulk.LoadColumn;
import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.protocol.ErrorCode;
import dev.kakehashi.protocol.RowBatchWriter;
import dev.kakehashi.protocol.TypeOid;
import dev.kakehashi.protocol.value.PgNumeric;
import java.lang.foreign.MemorySegment;
import java.math.BigDecimal;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.BiConsumer;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class ParquetFormatTest {
  private static final long MEMORY = 64L << 20;
  private static final LoadColumn DATE = ParquetTable.column("d", TypeOid.DATE, -1, "date");
  private static final LoadColumn TIME =
      ParquetTable.column("t", TypeOid.TIME, -1, "time without time zone");
  private static final LoadColumn STAMP =
      ParquetTable.column("ts", TypeOid.TIMESTAMP, -1, "timestamp without time zone");
  private static final LoadColumn PRICE =
      ParquetTable.column(
          "n", TypeOid.NUMERIC, ParquetTable.numericModifier(10, 2), "numeric(10,2)");
  private static final LoadColumn WIDE =
      ParquetTable.column(
          "w", TypeOid.NUMERIC, ParquetTable.numericModifier(30, 2), "numeric(30,2)");
  private static final LoadColumn NUMERIC =
      ParquetTable.column("x", TypeOid.NUMERIC, -1, "numeric");
  private static final LoadColumn INTS =
      ParquetTable.column("a", TypeOid.arrayOf(TypeOid.INT4), -1, "integer[]");
  private static final LoadColumn INT4 = ParquetTable.column("i", TypeOid.INT4, -1, "integer");
  private static final LoadColumn TEXT = ParquetTable.column("s", TypeOid.TEXT, -1, "text");

  private static ParquetOptions options(
      Infinity infinity,
      Set<String> text,
      @Nullable NumericType numericAs,
      boolean position,
      boolean extra) {
    return new ParquetOptions(
        1024, ParquetCodec.ZSTD, Map.of(), numericAs, text, infinity, position, extra, false);
  }

  private static ParquetOptions infinity(Infinity infinity) {
    return options(infinity, Set.of(), null, false, false);
  }

  private static MemorySegment batch(
      List<LoadColumn> columns, int rows, BiConsumer<RowBatchWriter, Integer> row) {
    RowBatchWriter writer = RowBatchWriter.growable(columns.size(), rows, 1 << 26);
    for (int i = 0; i < rows; i++) {
      writer.addRow();
      row.accept(writer, i);
    }
    writer.finish();
    return writer.batch();
  }

  /// One row of infinities and the like after one of common values.
  private static MemorySegment specials(List<LoadColumn> columns) {
    return batch(
        columns,
        3,
        (writer, row) -> {
          writer.setLong(0, row == 1 ? Integer.MAX_VALUE : 10 + row);
          writer.setLong(1, row == 1 ? 86_400_000_000L : row);
          writer.setLong(2, row == 1 ? Long.MIN_VALUE : row);
          writer.setNumeric(3, row == 1 ? PgNumeric.NAN : PgNumeric.of(BigDecimal.valueOf(row, 2)));
          writer.setNumeric(4, row == 1 ? PgNumeric.NAN : PgNumeric.of(BigDecimal.valueOf(row, 2)));
        });
  }

  @ParameterizedTest
  @ValueSource(ints = {0, 1, 2, 3, 4})
  void shouldRefuseValuesThatParquetDoesNotHave(int column) {
    List<LoadColumn> all = List.of(DATE, TIME, STAMP, PRICE, WIDE);
    List<LoadColumn> columns = List.of(all.get(column));
    MemorySegment rows =
        batch(
            columns,
            1,
            (writer, row) -> {
              switch (column) {
                case 0 -> writer.setLong(0, Integer.MIN_VALUE);
                case 1 -> writer.setLong(0, 86_400_000_000L);
                case 2 -> writer.setLong(0, Long.MAX_VALUE);
                default -> writer.setNumeric(0, PgNumeric.NAN);
              }
            });
    EngineException refused =
        assertThrows(
            EngineException.class,
            () -> ParquetFiles.write(columns, infinity(Infinity.REFUSE), List.of(rows)));
    assertEquals(
        column <= 2 ? ErrorCode.DATETIME_OVERFLOW : ErrorCode.NUMERIC_VALUE_OUT_OF_RANGE,
        refused.code());
    assertEquals(columns.getFirst().name(), refused.columnName());
    assertTrue(refused.hint().contains("infinity"), refused.hint());
  }

  @Test
  void shouldKeepSuchValuesAsText() {
    List<LoadColumn> columns = List.of(DATE, TIME, STAMP, PRICE, WIDE);
    MemorySegment rows = specials(columns);
    MemoryFile file = ParquetFiles.write(columns, infinity(Infinity.TEXT), List.of(rows));
    assertEquals(
        ParquetTable.dump(rows, columns), ParquetFiles.read(file, columns, ParquetOptions.DEFAULT));
  }

  @Test
  void shouldMakeSuchValuesNullWhenAsked() {
    List<LoadColumn> columns = List.of(DATE, TIME, STAMP, PRICE, WIDE);
    MemoryFile file =
        ParquetFiles.write(columns, infinity(Infinity.NULL), List.of(specials(columns)));
    List<String> rows = ParquetFiles.read(file, columns, ParquetOptions.DEFAULT);
    List<String> written = ParquetTable.dump(specials(columns), columns);
    assertEquals(written.get(0), rows.get(0));
    assertEquals("d=null t=null ts=null n=null w=null ", rows.get(1));
    assertEquals(written.get(2), rows.get(2));
  }

  @ParameterizedTest
  @ValueSource(strings = {"{{1,2},{3,4}}", "[0:1]={1,2}"})
  void shouldRefuseArraysThatAreNoListsUnlessTheyAreText(String array) {
    List<LoadColumn> columns = List.of(INTS);
    MemorySegment rows = batch(columns, 1, (writer, row) -> writer.setString(0, array));
    EngineException refused =
        assertThrows(
            EngineException.class,
            () -> ParquetFiles.write(columns, ParquetOptions.DEFAULT, List.of(rows)));
    assertEquals(ErrorCode.FEATURE_NOT_SUPPORTED, refused.code());
    assertEquals("a", refused.columnName());
    ParquetOptions text = options(Infinity.REFUSE, Set.of("a"), null, false, false);
    MemoryFile file = ParquetFiles.write(columns, text, List.of(rows));
    List<LoadColumn> asText = List.of(ParquetTable.column("a", TypeOid.TEXT, -1, "text"));
    assertEquals(
        List.of("a=" + array + " "), ParquetFiles.read(file, asText, ParquetOptions.DEFAULT));
  }

  @Test
  void shouldWriteNumericAsAskedForOrRefuse() {
    List<LoadColumn> columns = List.of(NUMERIC);
    ParquetOptions as = options(Infinity.REFUSE, Set.of(), new NumericType(20, 3), false, false);
    MemorySegment fits =
        batch(columns, 1, (writer, row) -> writer.setNumeric(0, new BigDecimal("1.5")));
    MemoryFile file = ParquetFiles.write(columns, as, List.of(fits));
    List<LoadColumn> text = List.of(ParquetTable.column("x", TypeOid.TEXT, -1, "text"));
    assertEquals(List.of("x=1.500 "), ParquetFiles.read(file, text, ParquetOptions.DEFAULT));
    for (String number : List.of("1.0001", "123456789012345678", "-1e30")) {
      MemorySegment tooLong =
          batch(columns, 1, (writer, row) -> writer.setNumeric(0, new BigDecimal(number)));
      EngineException refused =
          assertThrows(
              EngineException.class, () -> ParquetFiles.write(columns, as, List.of(tooLong)));
      assertEquals(ErrorCode.NUMERIC_VALUE_OUT_OF_RANGE, refused.code(), number);
    }
  }

  @Test
  void shouldRefuseOptionsOfColumnsThatAreNotWritten() {
    ParquetOptions wrong = options(Infinity.REFUSE, Set.of("other"), null, false, false);
    EngineException refused =
        assertThrows(
            EngineException.class, () -> ParquetFiles.write(List.of(INT4), wrong, List.of()));
    assertEquals(ErrorCode.UNDEFINED_COLUMN, refused.code());
  }

  private static MemoryFile twoColumns() {
    List<LoadColumn> columns = List.of(INT4, TEXT);
    return ParquetFiles.write(
        columns,
        ParquetOptions.DEFAULT,
        List.of(
            batch(
                columns,
                2000,
                (writer, row) -> {
                  writer.setLong(0, row);
                  if (row % 2 == 0) {
                    writer.setNull(1);
                  } else {
                    writer.setString(1, "row " + row);
                  }
                })));
  }

  @Test
  void shouldMatchColumnsByNameOrPosition() {
    MemoryFile file = twoColumns();
    LoadColumn upper = ParquetTable.column("S", TypeOid.VARCHAR, -1, "character varying");
    LoadColumn other = ParquetTable.column("other", TypeOid.INT8, -1, "bigint");
    assertEquals(
        "S=row 1 ", ParquetFiles.read(file, List.of(other, upper), ParquetOptions.DEFAULT).get(1));
    ParquetOptions position = options(Infinity.REFUSE, Set.of(), null, true, false);
    assertEquals(
        "other=1 S=row 1 ", ParquetFiles.read(file, List.of(other, upper), position).get(1));
    EngineException missing =
        assertThrows(
            EngineException.class,
            () ->
                new ParquetFormat(ParquetOptions.DEFAULT)
                    .read(file, List.of(INT4, other), true, new BudgetContext(MEMORY)));
    assertEquals(ErrorCode.UNDEFINED_COLUMN, missing.code());
    assertEquals("other", missing.columnName());
    ParquetOptions strict = options(Infinity.REFUSE, Set.of(), null, false, true);
    EngineException extra =
        assertThrows(EngineException.class, () -> ParquetFiles.read(file, List.of(INT4), strict));
    assertEquals(ErrorCode.BAD_COPY_FILE_FORMAT, extra.code());
  }

  @Test
  void shouldRefuseAValueThatTheColumnCannotHoldAndSayWhichRow() {
    MemoryFile file = twoColumns();
    LoadColumn number = ParquetTable.column("s", TypeOid.INT4, -1, "integer");
    EngineException refused =
        assertThrows(
            EngineException.class,
            () -> ParquetFiles.read(file, List.of(number), ParquetOptions.DEFAULT));
    assertEquals(ErrorCode.INVALID_TEXT_REPRESENTATION, refused.code());
    assertEquals("row 2", refused.detail());
    LoadColumn wrong = ParquetTable.column("i", TypeOid.UUID, -1, "uuid");
    EngineException mismatch =
        assertThrows(
            EngineException.class,
            () -> ParquetFiles.read(file, List.of(wrong), ParquetOptions.DEFAULT));
    assertEquals(ErrorCode.DATATYPE_MISMATCH, mismatch.code());
  }

  @Test
  void shouldInspectRowsTypesAndRanges() {
    List<LoadColumn> columns = List.of(INT4, NUMERIC);
    ParquetOptions options =
        new ParquetOptions(
            1024,
            ParquetCodec.ZSTD,
            Map.of("x", ParquetCodec.SNAPPY),
            null,
            Set.of(),
            Infinity.REFUSE,
            false,
            false,
            false);
    MemoryFile file =
        ParquetFiles.write(
            columns,
            options,
            List.of(
                batch(
                    columns,
                    1500,
                    (writer, row) -> {
                      writer.setLong(0, row - 5);
                      writer.setNull(1);
                    })));
    BudgetContext context = new BudgetContext(MEMORY);
    List<InspectedItem> items = new ParquetFormat(options).inspect(file, context);
    assertEquals(0, context.reserved());
    assertEquals("file", items.getFirst().kind());
    assertTrue(items.getFirst().value().contains("1500 rows, 2 row groups"), items.toString());
    assertEquals(new InspectedItem(file.name(), "column", "i", "integer"), items.get(1));
    assertEquals(new InspectedItem(file.name(), "column", "x", "numeric"), items.get(2));
    assertEquals("0", items.get(3).name());
    assertTrue(items.get(3).value().startsWith("1024 rows, "), items.toString());
    assertTrue(items.get(3).value().endsWith("snappy, zstd"), items.toString());
    assertEquals(
        new InspectedItem(file.name(), "statistics", "i", "row group 1: 1019 to 1494, 0 nulls"),
        items.get(6));
    assertEquals(
        new InspectedItem(file.name(), "statistics", "x", "row group 0: no bounds, 1024 nulls"),
        items.get(7));
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void shouldCompressWhatShrinksOrIsNamed(boolean isNamed) {
    List<LoadColumn> columns = List.of(INT4, TEXT);
    ParquetOptions options =
        new ParquetOptions(
            2048,
            ParquetCodec.ZSTD,
            isNamed ? Map.of("i", ParquetCodec.ZSTD) : Map.of(),
            null,
            Set.of(),
            Infinity.REFUSE,
            false,
            false,
            false);
    java.util.Random random = new java.util.Random(1);
    MemorySegment scattered =
        batch(
            columns,
            1500,
            (writer, row) -> {
              writer.setLong(0, random.nextInt());
              writer.setString(1, "the same words again and again, and a number: " + row);
            });
    MemoryFile file = ParquetFiles.write(columns, options, List.of(scattered));
    String group =
        new ParquetFormat(options)
            .inspect(file, new BudgetContext(MEMORY)).stream()
                .filter(item -> item.kind().equals("row group"))
                .map(InspectedItem::value)
                .findFirst()
                .orElseThrow();
    assertTrue(group.endsWith(isNamed ? "bytes, zstd" : "bytes, uncompressed, zstd"), group);
    assertEquals(ParquetTable.dump(scattered, columns), ParquetFiles.read(file, columns, options));
  }

  @Test
  void shouldRefuseFilesOfOtherFormats() {
    for (byte[] bytes :
        List.of(
            new byte[0],
            new byte[11],
            "a,b\n1,2\n3,4\n5,6\n".getBytes(java.nio.charset.StandardCharsets.UTF_8))) {
      EngineException refused =
          assertThrows(
              EngineException.class,
              () ->
                  ParquetFiles.read(new MemoryFile(bytes), List.of(INT4), ParquetOptions.DEFAULT));
      assertEquals(ErrorCode.BAD_COPY_FILE_FORMAT, refused.code());
    }
  }
}
