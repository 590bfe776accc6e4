package dev.kakehashi.bulk.arrow;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.kakehashi.bulk.arrow.ArrowOptions.Codec;
import dev.kakehashi.bulk.arrow.ArrowOptions.Infinity;
import dev.kakehashi.bulk.format.FileFormat.Description;
import dev.kakehashi.bulk.format.RowsFile;
import dev.kakehashi.bulk.format.RowsOutput;
import dev.kakehashi.bulk.format.RowsPart;
import dev.kakehashi.bulk.value.BatchRows;
import dev.kakehashi.bulk.value.BudgetContext;
import dev.kakehashi.bulk.value.MemoryFile;
import dev.kakehashi.bulk.value.RandomTable;
import dev.kakehashi.engine.api.bulk.InspectedItem;
import dev.kakehashi.engine.api.bulk.LoadColumn;
import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.formats.TypeName;
import dev.kakehashi.protocol.RowBatchReader;
import dev.kakehashi.protocol.RowBatchWriter;
import dev.kakehashi.protocol.TypeOid;
import dev.kakehashi.protocol.value.PgNumeric;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Random;
import java.util.Set;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ArrowFormatTest {
  private static final int ROUNDS = Integer.getInteger("kakehashi.arrow.rounds", 2);

  static MemoryFile written(
      ArrowOptions options, List<LoadColumn> columns, List<MemorySegment> batches) {
    BudgetContext context = new BudgetContext(1L << 30);
    MemoryFile file = new MemoryFile();
    try (RowsOutput output =
        new ArrowFormat(options).write(file, columns, new Description("SELECT 1"), context)) {
      batches.forEach(output::rows);
      output.end();
    }
    assertEquals(0, context.reserved());
    return file;
  }

  static List<String> read(MemoryFile file, ArrowOptions options, List<LoadColumn> columns) {
    BudgetContext context = new BudgetContext(1L << 30);
    List<String> rows = new ArrayList<>();
    try (RowsFile opened = new ArrowFormat(options).read(file, columns, true, context)) {
      for (RowsPart next = opened.next(); next != null; next = opened.next()) {
        try (RowsPart part = next) {
          for (@Nullable MemorySegment batch = rows(part); batch != null; batch = rows(part)) {
            rows.addAll(BatchRows.of(batch, columns));
          }
        }
      }
    }
    assertEquals(0, context.reserved());
    return rows;
  }

  private static @Nullable MemorySegment rows(RowsPart part) {
    return part.next((origin, failure) -> {
      throw failure;
    });
  }

  @ParameterizedTest
  @CsvSource({"false,NONE", "true,NONE", "false,LZ4", "false,ZSTD", "true,LZ4", "true,ZSTD"})
  void shouldGiveBackTheSameBits(boolean stream, Codec codec) {
    for (int round = 0; round < ROUNDS; round++) {
      Random random = new Random(round);
      RandomTable table = new RandomTable(random);
      List<MemorySegment> batches =
          IntStream.range(0, random.nextInt(4))
              .mapToObj(i -> table.batch(random.nextInt(1, 400)))
              .toList();
      ArrowOptions options =
          new ArrowOptions(
              stream,
              codec,
              random.nextInt(1, 500),
              java.util.Set.of(),
              ArrowOptions.Infinity.REFUSE,
              false,
              true,
              false);
      MemoryFile file = written(options, table.columns(), batches);
      List<String> expected = new ArrayList<>();
      batches.forEach(batch -> expected.addAll(BatchRows.of(batch, table.columns())));
      assertEquals(expected, read(file, options, table.columns()));
    }
  }

  @Test
  void shouldFindColumnsByName() {
    RandomTable table = new RandomTable(new Random(1));
    MemoryFile file = written(ArrowOptions.DEFAULT, table.columns(), List.of(table.batch(10)));
    List<LoadColumn> reversed = table.columns().reversed();
    try (RowsFile opened =
        new ArrowFormat(ArrowOptions.DEFAULT)
            .read(file, reversed, true, new BudgetContext(1 << 20))) {
      assertArrayEquals(IntStream.range(0, reversed.size()).toArray(), opened.columns());
    }
  }

  @Test
  void shouldSayWhatIsInAFile() {
    RandomTable table = new RandomTable(new Random(1));
    for (boolean stream : new boolean[] {false, true}) {
      MemoryFile file =
          written(
              ArrowOptions.DEFAULT.withStream(stream),
              table.columns(),
              List.of(table.batch(10), table.batch(5)));
      List<InspectedItem> items =
          new ArrowFormat(ArrowOptions.DEFAULT).inspect(file, new BudgetContext(1 << 20));
      assertEquals("file", items.getFirst().kind());
      assertTrue(
          items.getFirst().value().contains((stream ? "stream" : "file") + ", 15 rows, 1 record"),
          items.getFirst().value());
      assertEquals(
          table.columns().stream().map(LoadColumn::typeName).toList(),
          items.stream()
              .filter(item -> item.kind().equals("column"))
              .map(InspectedItem::value)
              .toList());
      assertEquals("row group", items.getLast().kind());
    }
  }

  private static LoadColumn column(int typeOid, int typeModifier) {
    return new LoadColumn(
        "c", typeOid, typeModifier, TypeName.of(typeOid, typeModifier), true, List.of());
  }

  private static MemorySegment row(String text) {
    RowBatchWriter writer = RowBatchWriter.growable(1, 1, 1 << 10);
    writer.addRow();
    switch (text) {
      case "infinity" -> writer.setLong(0, Integer.MAX_VALUE);
      case "24:00:00" -> writer.setLong(0, 86_400_000_000L);
      case "NaN" -> writer.setNumeric(0, PgNumeric.NAN);
      default -> writer.setString(0, text);
    }
    writer.finish();
    return MemorySegment.ofArray(writer.batch().toArray(ValueLayout.JAVA_BYTE));
  }

  private static ArrowOptions options(Infinity infinity) {
    return new ArrowOptions(false, Codec.NONE, 10, Set.of(), infinity, false, false, false);
  }

  @ParameterizedTest
  @CsvSource({"1082,-1,infinity", "1083,-1,24:00:00", "1700,327686,NaN", "1007,-1,'{{1},{2}}'"})
  void shouldRefuseOrKeepWhatArrowDoesNotHave(int typeOid, int typeModifier, String text) {
    LoadColumn column = column(typeOid, typeModifier);
    MemorySegment row = row(text);
    EngineException refused =
        assertThrows(
            EngineException.class,
            () -> written(options(Infinity.REFUSE), List.of(column), List.of(row)));
    assertEquals("c", refused.columnName());
    MemoryFile kept = written(options(Infinity.TEXT), List.of(column), List.of(row));
    assertEquals(
        BatchRows.of(row, List.of(column)), read(kept, ArrowOptions.DEFAULT, List.of(column)));
    MemoryFile dropped = written(options(Infinity.NULL), List.of(column), List.of(row));
    assertEquals(List.of("null0|"), read(dropped, ArrowOptions.DEFAULT, List.of(column)));
  }

  @Test
  void shouldRejectBadRowsAndGoOn() {
    LoadColumn written = column(TypeOid.INT8, -1);
    LoadColumn read = column(TypeOid.INT2, -1);
    RowBatchWriter writer = RowBatchWriter.growable(1, 10_000, 1 << 20);
    for (int i = 0; i < 10_000; i++) {
      writer.addRow();
      writer.setLong(0, i * 7L);
    }
    writer.finish();
    MemoryFile file = written(ArrowOptions.DEFAULT, List.of(written), List.of(writer.batch()));
    List<String> rejected = new ArrayList<>();
    long given = 0;
    try (RowsFile opened =
            new ArrowFormat(ArrowOptions.DEFAULT)
                .read(file, List.of(read), true, new BudgetContext(1 << 24));
        RowsPart part = Objects.requireNonNull(opened.next())) {
      RowsPart.BadRows badRows =
          (origin, failure) ->
              rejected.add(
                  origin.line()
                      + ":"
                      + new String(origin.raw(), StandardCharsets.UTF_8)
                      + ":"
                      + failure.code());
      for (MemorySegment batch = part.next(badRows); batch != null; batch = part.next(badRows)) {
        RowBatchReader rows = new RowBatchReader().wrap(batch);
        for (int row = 0; row < rows.rowCount(); row++) {
          assertEquals((part.origin(row).line() - 1) * 7, rows.getLong(row, 0));
        }
        given += rows.rowCount();
      }
      assertEquals(10_000, part.rows());
    }
    assertEquals(4682, given);
    assertEquals(10_000 - 4682, rejected.size());
    assertEquals("4683:32774:NUMERIC_VALUE_OUT_OF_RANGE", rejected.getFirst());
  }
}
