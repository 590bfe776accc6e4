package dev.kakehashi.bulk.parquet;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.kakehashi.bulk.format.RowsFile;
import dev.kakehashi.bulk.format.RowsPart;
import dev.kakehashi.bulk.parquet.page.ParquetCodec;
import dev.kakehashi.bulk.parquet.page.ParquetOptions;
import dev.kakehashi.bulk.parquet.page.ParquetOptions.Infinity;
import dev.kakehashi.bulk.value.BudgetContext;
import dev.kakehashi.bulk.value.MemoryFile;
import dev.kakehashi.engine.api.bulk.LoadColumn;
import dev.kakehashi.engine.api.bulk.LoadCondition;
import dev.kakehashi.engine.api.bulk.LoadCondition.Operator;
import dev.kakehashi.protocol.RowBatchReader;
import dev.kakehashi.protocol.RowBatchWriter;
import dev.kakehashi.protocol.TypeOid;
import dev.kakehashi.protocol.value.PgNumeric;
import java.lang.foreign.MemorySegment;
import java.math.BigDecimal;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/// Row groups that conditions leave out.
class ParquetPruningTest {
  private static final List<Operator> OPERATORS = List.of(Operator.values());
  private static final int TABLES = Integer.getInteger("kakehashi.parquet.tables", 12);
  private static final int CONDITIONS = 20;
  private static final int GROUP_ROWS = 1024;

  private static final List<LoadColumn> COLUMNS =
      List.of(
          ParquetTable.column("id", TypeOid.INT8, -1, "bigint"),
          ParquetTable.column("i", TypeOid.INT4, -1, "integer"),
          ParquetTable.column("d", TypeOid.DATE, -1, "date"),
          ParquetTable.column("ts", TypeOid.TIMESTAMPTZ, -1, "timestamp with time zone"),
          ParquetTable.column("f", TypeOid.FLOAT8, -1, "double precision"),
          ParquetTable.column("r", TypeOid.FLOAT4, -1, "real"),
          ParquetTable.column("t", TypeOid.TEXT, -1, "text"),
          ParquetTable.column(
              "n9", TypeOid.NUMERIC, ParquetTable.numericModifier(9, 2), "numeric(9,2)"),
          ParquetTable.column(
              "n30", TypeOid.NUMERIC, ParquetTable.numericModifier(30, 5), "numeric(30,5)"));

  /// Into such columns without a scale, whose values are not rounded.
  private static final List<LoadColumn> TARGETS =
      COLUMNS.stream()
          .map(column ->
              column.typeOid() == TypeOid.NUMERIC
                  ? ParquetTable.column(column.name(), TypeOid.NUMERIC, -1, "numeric")
                  : column)
          .toList();

  private static final ParquetOptions OPTIONS =
      new ParquetOptions(
          GROUP_ROWS,
          ParquetCodec.UNCOMPRESSED,
          Map.of(),
          null,
          Set.of(),
          Infinity.REFUSE,
          false,
          false,
          false);

  private static @Nullable Object value(int column, double centre, Random random) {
    double at = centre + random.nextGaussian();
    return switch (column) {
      case 1 -> (Long) Math.round(at * 1000);
      case 2 -> (Long) Math.round(at * 10);
      case 3 -> (Long) Math.round(at * 1e12);
      case 4 ->
          switch (random.nextInt(400)) {
            case 0 -> (Object) Double.NaN;
            case 1 -> -0.0;
            case 2 -> Double.NEGATIVE_INFINITY;
            default -> (Object) at;
          };
      case 5 -> random.nextInt(300) == 0 ? (Object) Double.NaN : (Object) (double) (float) at;
      case 6 ->
          switch (random.nextInt(3)) {
            case 0 -> "é".repeat(70) + (char) ('a' + Math.floorMod(Math.round(at), 20));
            case 1 -> "";
            default -> Long.toString(Math.round(at * 100));
          };
      case 7 -> BigDecimal.valueOf(Math.round(at * 1000), 2);
      default -> BigDecimal.valueOf(Math.round(at * 1000), 5);
    };
  }

  private static MemorySegment batch(List<@Nullable Object[]> rows) {
    RowBatchWriter writer = RowBatchWriter.growable(COLUMNS.size(), rows.size(), 1 << 24);
    for (@Nullable Object[] row : rows) {
      assertTrue(writer.addRow());
      for (int c = 0; c < row.length; c++) {
        Object value = row[c];
        int oid = COLUMNS.get(c).typeOid();
        switch (value) {
          case null -> writer.setNull(c);
          case Long number -> writer.setLong(c, number);
          case Double number when oid == TypeOid.FLOAT4 -> writer.setFloat(c, number.floatValue());
          case Double number -> writer.setDouble(c, number);
          case BigDecimal number -> assertTrue(writer.setNumeric(c, PgNumeric.of(number)));
          default -> assertTrue(writer.setString(c, value.toString()));
        }
      }
    }
    int ignored = writer.finish();
    return writer.batch();
  }

  /// As PostgreSQL compares: NaN is the greatest.
  private static int compare(Object left, Object right) {
    return switch (left) {
      case Long number -> number.compareTo((Long) right);
      case Double number ->
          number == (double) (Double) right ? 0 : number.compareTo((Double) right);
      case BigDecimal number -> number.compareTo((BigDecimal) right);
      default ->
          Arrays.compareUnsigned(
              left.toString().getBytes(StandardCharsets.UTF_8),
              right.toString().getBytes(StandardCharsets.UTF_8));
    };
  }

  private static boolean holds(LoadCondition condition, @Nullable Object[] row) {
    Object left = row[condition.column()];
    Object right = condition.value();
    if (left == null || right == null) {
      return condition.operator() == (left == null ? Operator.IS_NULL : Operator.IS_NOT_NULL);
    }
    int order = compare(left, right);
    return switch (condition.operator()) {
      case LESS -> order < 0;
      case LESS_OR_EQUAL -> order <= 0;
      case EQUAL -> order == 0;
      case GREATER_OR_EQUAL -> order >= 0;
      case GREATER -> order > 0;
      case IS_NULL, IS_NOT_NULL -> throw new AssertionError("it has no value");
    };
  }

  /// Rows that are read, and the number of rows that are left out.
  private record Read(List<Long> ids, long rows, long leftOut) {}

  private static Read read(MemoryFile file, List<LoadCondition> conditions) {
    BudgetContext context = new BudgetContext(ParquetFiles.MEMORY);
    List<Long> ids = new ArrayList<>();
    long rows = 0;
    long leftOut = 0;
    try (RowsFile in = new ParquetFormat(OPTIONS).read(file, TARGETS, false, conditions, context)) {
      for (RowsPart part = in.next(); part != null; part = in.next()) {
        try (RowsPart open = part) {
          for (MemorySegment batch = open.next(ParquetFiles.REFUSING);
              batch != null;
              batch = open.next(ParquetFiles.REFUSING)) {
            RowBatchReader reader = new RowBatchReader().wrap(batch);
            for (int row = 0; row < reader.rowCount(); row++) {
              ids.add(reader.getLong(row, 0));
            }
          }
          rows += open.rows();
          leftOut += open.leftOut();
        }
      }
    }
    assertEquals(0, context.reserved());
    return new Read(ids, rows, leftOut);
  }

  private static List<@Nullable Object[]> table(Random random) {
    List<@Nullable Object[]> rows = new ArrayList<>();
    int groups = 1 + random.nextInt(5);
    for (int group = 0; group < groups; group++) {
      double centre = random.nextInt(20) - 10;
      int allNull = random.nextInt(2 * COLUMNS.size());
      int nulls = random.nextInt(3) == 0 ? 0 : 20;
      for (int i = 0; i < GROUP_ROWS && (group + 1 < groups || i < 500); i++) {
        @Nullable Object[] row = new @Nullable Object[COLUMNS.size()];
        row[0] = (Long) (long) rows.size();
        for (int c = 1; c < row.length; c++) {
          boolean isNull = c == allNull || (nulls > 0 && random.nextInt(nulls) == 0);
          row[c] = isNull ? null : value(c, centre, random);
        }
        rows.add(row);
      }
    }
    return rows;
  }

  private static LoadCondition condition(List<@Nullable Object[]> rows, Random random) {
    int column = random.nextInt(COLUMNS.size());
    Operator operator = OPERATORS.get(random.nextInt(OPERATORS.size()));
    if (operator == Operator.IS_NULL || operator == Operator.IS_NOT_NULL) {
      return new LoadCondition(column, operator, null);
    }
    Object value =
        random.nextInt(4) == 0 || column == 0
            ? rows.get(random.nextInt(rows.size()))[column]
            : value(column, random.nextInt(24) - 12, random);
    return value == null || value.equals(Double.NaN)
        ? new LoadCondition(column, Operator.IS_NOT_NULL, null)
        : new LoadCondition(column, operator, value);
  }

  @Test
  void shouldReadAllRowsThatFulfilTheConditions() {
    long seed = Long.getLong("kakehashi.seed", System.nanoTime());
    Random random = new Random(seed);
    long leftOut = 0;
    for (int t = 0; t < TABLES; t++) {
      List<@Nullable Object[]> rows = table(random);
      MemoryFile file = ParquetFiles.write(COLUMNS, OPTIONS, List.of(batch(rows)));
      for (int i = 0; i < CONDITIONS; i++) {
        List<LoadCondition> conditions = new ArrayList<>();
        for (int n = 1 + random.nextInt(2); n > 0; n--) {
          conditions.add(condition(rows, random));
        }
        List<Long> wanted =
            rows.stream()
                .filter(row -> conditions.stream().allMatch(each -> holds(each, row)))
                .map(row -> (Long) row[0])
                .toList();
        Read read = read(file, conditions);
        List<Long> found =
            read.ids().stream()
                .filter(id -> {
                  @Nullable Object[] row = rows.get(Math.toIntExact(id));
                  return conditions.stream().allMatch(each -> holds(each, row));
                })
                .toList();
        assertEquals(wanted, found, () -> "seed " + seed + ", " + conditions);
        assertEquals(rows.size(), read.rows());
        assertEquals(rows.size() - read.ids().size(), read.leftOut());
        leftOut += read.leftOut();
      }
    }
    assertTrue(leftOut > 200L * TABLES * CONDITIONS, leftOut + " rows were left out, seed " + seed);
  }
}
