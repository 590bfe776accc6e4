package dev.kakehashi.bulk.parquet;

import dev.kakehashi.bulk.format.FileFormat.Description;
import dev.kakehashi.bulk.format.RowsFile;
import dev.kakehashi.bulk.format.RowsOutput;
import dev.kakehashi.bulk.format.RowsPart;
import dev.kakehashi.bulk.parquet.page.ParquetCodec;
import dev.kakehashi.bulk.parquet.page.ParquetOptions;
import dev.kakehashi.bulk.parquet.page.ParquetOptions.Infinity;
import dev.kakehashi.bulk.value.BudgetContext;
import dev.kakehashi.bulk.value.MemoryFile;
import dev.kakehashi.engine.api.bulk.LoadColumn;
import dev.kakehashi.protocol.RowBatchReader;
import dev.kakehashi.protocol.RowBatchWriter;
import dev.kakehashi.protocol.TypeOid;
import java.lang.foreign.MemorySegment;
import java.lang.management.ManagementFactory;
import java.math.BigDecimal;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;

/// Rows like those of lineitem, written and read on one thread, beside DuckDB on one thread.
///
/// Arguments: rows, codec.
final class ParquetSpeed {
  private static final int BATCH_ROWS = 4096;
  private static final int ROUNDS = 8;
  private static final String[] WORDS =
      ("carefully quickly furiously slyly blithely express regular final pending ironic special bold even "
              + "silent unusual deposits accounts packages requests instructions theodolites foxes pinto beans "
              + "ideas dependencies platelets sleep wake nag haggle cajole integrate boost detect about above "
              + "across after against along among around at before")
          .split(" ");

  private ParquetSpeed() {}

  private static List<LoadColumn> columns() {
    int decimal = ParquetTable.numericModifier(12, 2);
    return List.of(
        ParquetTable.column("l_orderkey", TypeOid.INT8, -1, "bigint"),
        ParquetTable.column("l_partkey", TypeOid.INT4, -1, "integer"),
        ParquetTable.column("l_suppkey", TypeOid.INT4, -1, "integer"),
        ParquetTable.column("l_linenumber", TypeOid.INT4, -1, "integer"),
        ParquetTable.column("l_quantity", TypeOid.NUMERIC, decimal, "numeric(12,2)"),
        ParquetTable.column("l_extendedprice", TypeOid.NUMERIC, decimal, "numeric(12,2)"),
        ParquetTable.column("l_discount", TypeOid.NUMERIC, decimal, "numeric(12,2)"),
        ParquetTable.column("l_tax", TypeOid.NUMERIC, decimal, "numeric(12,2)"),
        ParquetTable.column("l_returnflag", TypeOid.TEXT, -1, "text"),
        ParquetTable.column("l_linestatus", TypeOid.TEXT, -1, "text"),
        ParquetTable.column("l_shipdate", TypeOid.DATE, -1, "date"),
        ParquetTable.column("l_commitdate", TypeOid.DATE, -1, "date"),
        ParquetTable.column("l_receiptdate", TypeOid.DATE, -1, "date"),
        ParquetTable.column("l_shipinstruct", TypeOid.TEXT, -1, "text"),
        ParquetTable.column("l_shipmode", TypeOid.TEXT, -1, "text"),
        ParquetTable.column("l_comment", TypeOid.TEXT, -1, "text"));
  }

  private static List<MemorySegment> batches(int rows) {
    Random random = new Random(1);
    String[] instructions = {"DELIVER IN PERSON", "COLLECT COD", "NONE", "TAKE BACK RETURN"};
    String[] modes = {"REG AIR", "AIR", "RAIL", "SHIP", "TRUCK", "MAIL", "FOB"};
    List<MemorySegment> batches = new ArrayList<>();
    long order = 1;
    int line = 1;
    for (int done = 0; done < rows; done += BATCH_ROWS) {
      int count = Math.min(BATCH_ROWS, rows - done);
      RowBatchWriter writer = RowBatchWriter.growable(16, count, 1 << 26);
      for (int i = 0; i < count; i++) {
        writer.addRow();
        if (random.nextInt(4) == 0) {
          order += 1 + random.nextInt(8);
          line = 1;
        }
        int quantity = 1 + random.nextInt(50);
        int ship = -2900 + random.nextInt(2500);
        writer.setLong(0, order);
        writer.setLong(1, 1 + random.nextInt(2_000_000));
        writer.setLong(2, 1 + random.nextInt(100_000));
        writer.setLong(3, line++);
        writer.setNumeric(4, BigDecimal.valueOf(100L * quantity, 2));
        writer.setNumeric(5, BigDecimal.valueOf(quantity * (90_000L + random.nextInt(110_000)), 2));
        writer.setNumeric(6, BigDecimal.valueOf(random.nextInt(11), 2));
        writer.setNumeric(7, BigDecimal.valueOf(random.nextInt(9), 2));
        writer.setString(8, ship < -1670 ? random.nextBoolean() ? "R" : "A" : "N");
        writer.setString(9, ship < -1670 ? "F" : "O");
        writer.setLong(10, ship);
        writer.setLong(11, ship - 30 + random.nextInt(90));
        writer.setLong(12, ship + 1 + random.nextInt(30));
        writer.setString(13, instructions[random.nextInt(4)]);
        writer.setString(14, modes[random.nextInt(7)]);
        StringBuilder comment = new StringBuilder();
        int length = 10 + random.nextInt(34);
        while (comment.length() < length) {
          comment.append(comment.isEmpty() ? "" : " ").append(WORDS[random.nextInt(WORDS.length)]);
        }
        writer.setString(15, comment.substring(0, length));
      }
      writer.finish();
      batches.add(writer.batch());
    }
    return batches;
  }

  public static void main(String[] arguments) throws Exception {
    int rows = arguments.length > 0 ? Integer.parseInt(arguments[0]) : 1_000_000;
    String codecName = arguments.length > 1 ? arguments[1] : "zstd";
    ParquetCodec codec = ParquetCodec.named(codecName);
    if (codec == null) {
      throw new IllegalArgumentException(codecName);
    }
    ParquetOptions options =
        new ParquetOptions(
            122_880, codec, Map.of(), null, Set.of(), Infinity.REFUSE, false, false, false);
    List<LoadColumn> columns = columns();
    List<MemorySegment> batches = batches(rows);
    Path directory = Files.createTempDirectory("parquet");
    Path ours = directory.resolve("ours.parquet");
    Path theirs = directory.resolve("theirs.parquet");
    for (int round = 0; round < ROUNDS; round++) {
      long begin = cpuNanos();
      MemoryFile file = new MemoryFile();
      BudgetContext context = new BudgetContext(1L << 30);
      try (RowsOutput out =
          new ParquetFormat(options).write(file, columns, new Description("lineitem"), context)) {
        batches.forEach(out::rows);
        out.end();
      }
      report("ours written, " + file.bytes().length + " bytes", rows, begin);
      begin = cpuNanos();
      long read = read(file, columns, options);
      report("ours read", read, begin);
      if (round == 0) {
        Files.write(ours, file.bytes());
      }
      if (Files.exists(theirs)) {
        MemoryFile other = new MemoryFile(Files.readAllBytes(theirs));
        begin = cpuNanos();
        report("theirs read by us", read(other, columns, options), begin);
      }
      try (Connection duck = DriverManager.getConnection("jdbc:duckdb:");
          Statement statement = duck.createStatement()) {
        statement.execute("SET threads = 1");
        begin = cpuNanos();
        statement.execute("CREATE TABLE l AS SELECT * FROM '" + ours + "'");
        report("DuckDB reads ours into a table", rows, begin);
        begin = cpuNanos();
        statement.execute("COPY l TO '" + theirs + "' (FORMAT parquet, CODEC " + codecName + ")");
        report("DuckDB writes, " + Files.size(theirs) + " bytes", rows, begin);
      }
    }
    Files.delete(ours);
    Files.delete(theirs);
    Files.delete(directory);
  }

  private static long read(MemoryFile file, List<LoadColumn> columns, ParquetOptions options) {
    BudgetContext context = new BudgetContext(1L << 28);
    RowBatchReader reader = new RowBatchReader();
    long rows = 0;
    try (RowsFile in = new ParquetFormat(options).read(file, columns, true, context)) {
      for (RowsPart part = in.next(); part != null; part = in.next()) {
        try (RowsPart open = part) {
          MemorySegment batch = open.next(ParquetFiles.REFUSING);
          while (batch != null) {
            rows += reader.wrap(batch).rowCount();
            batch = open.next(ParquetFiles.REFUSING);
          }
        }
      }
    }
    return rows;
  }

  /// CPU time of this thread, on which DuckDB works, too: other processes do not matter.
  private static long cpuNanos() {
    return ManagementFactory.getThreadMXBean().getCurrentThreadCpuTime();
  }

  private static void report(String what, long rows, long begin) {
    double seconds = (cpuNanos() - begin) / 1e9;
    System.out.printf("%-45s %8.0f ms %8.2f M rows/s%n", what, seconds * 1e3, rows / seconds / 1e6);
  }
}
