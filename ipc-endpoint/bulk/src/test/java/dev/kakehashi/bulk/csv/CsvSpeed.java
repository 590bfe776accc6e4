package dev.kakehashi.bulk.csv;

import static dev.kakehashi.bulk.csv.CsvFiles.column;

import dev.kakehashi.bulk.format.FileFormat;
import dev.kakehashi.bulk.format.FileOutput;
import dev.kakehashi.bulk.format.RowsFile;
import dev.kakehashi.bulk.format.RowsOutput;
import dev.kakehashi.bulk.format.RowsPart;
import dev.kakehashi.engine.api.bulk.LoadColumn;
import dev.kakehashi.protocol.TypeOid;
import java.lang.foreign.MemorySegment;
import java.lang.management.ManagementFactory;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.LocalDate;
import java.util.List;
import java.util.Random;

/// Shows how fast CSV is read and written, by processor time of one thread: run it by hand.
final class CsvSpeed {
  private static final int ROWS = 300_000;
  private static final int MONEY = (15 << 16 | 2) + 4;
  private static final String[] WORDS = {
    "furiously", "regular", "deposits", "sleep", "carefully", "the", "ironic", "packages"
  };

  private static final List<LoadColumn> LINEITEM =
      List.of(
          column("l_orderkey", TypeOid.INT8),
          column("l_partkey", TypeOid.INT4),
          column("l_suppkey", TypeOid.INT4),
          column("l_linenumber", TypeOid.INT4),
          column("l_quantity", TypeOid.NUMERIC, MONEY),
          column("l_extendedprice", TypeOid.NUMERIC, MONEY),
          column("l_discount", TypeOid.NUMERIC, MONEY),
          column("l_tax", TypeOid.NUMERIC, MONEY),
          column("l_returnflag", TypeOid.BPCHAR, 5),
          column("l_linestatus", TypeOid.BPCHAR, 5),
          column("l_shipdate", TypeOid.DATE),
          column("l_commitdate", TypeOid.DATE),
          column("l_receiptdate", TypeOid.DATE),
          column("l_shipinstruct", TypeOid.BPCHAR, 29),
          column("l_shipmode", TypeOid.BPCHAR, 14),
          column("l_comment", TypeOid.VARCHAR, 48));

  private CsvSpeed() {}

  public static void main(String[] arguments) {
    measure("lineitem", CsvFiles.csv().build(true), LINEITEM, lineitem(false));
    measure("lineitem, all in quotes", CsvFiles.csv().build(true), LINEITEM, lineitem(true));
    measure(
        "texts of lineitem",
        CsvFiles.csv().build(true),
        CsvFiles.texts(LINEITEM.size()),
        lineitem(false));
    CsvOptions text = CsvFiles.text().delimiter(",").build(true);
    measure("lineitem, text format", text, LINEITEM, lineitem(false));
    scan(lineitem(false));
  }

  private static byte[] lineitem(boolean quoted) {
    Random random = new Random(1);
    StringBuilder out = new StringBuilder();
    String separator = quoted ? "\",\"" : ",";
    for (int i = 0; i < ROWS; i++) {
      String row =
          String.join(
              separator,
              Integer.toString(i / 4 * 8),
              Integer.toString(random.nextInt(200_000)),
              Integer.toString(random.nextInt(10_000)),
              Integer.toString(i % 7 + 1),
              Integer.toString(random.nextInt(50) + 1),
              "%d.%02d".formatted(random.nextInt(90_000) + 900, random.nextInt(100)),
              "0.0" + random.nextInt(10),
              "0.0" + random.nextInt(9),
              "N",
              "O",
              day(random),
              day(random),
              day(random),
              "DELIVER IN PERSON",
              "TRUCK",
              WORDS[random.nextInt(8)]
                  + " "
                  + WORDS[random.nextInt(8)]
                  + " "
                  + WORDS[random.nextInt(8)]);
      out.append(quoted ? "\"" : "").append(row).append(quoted ? "\"\n" : "\n");
    }
    return out.toString().getBytes(StandardCharsets.UTF_8);
  }

  private static String day(Random random) {
    return LocalDate.of(1992, 1, 1).plusDays(random.nextInt(2500)).toString();
  }

  /// CPU time of this thread: others may use the processors, too.
  private static long cpuNanos() {
    return ManagementFactory.getThreadMXBean().getCurrentThreadCpuTime();
  }

  private static void measure(
      String name, CsvOptions options, List<LoadColumn> columns, byte[] content) {
    FileFormat format = new CsvFormat(options);
    Counted counted = new Counted();
    double best = Double.MAX_VALUE;
    double bestWrite = Double.MAX_VALUE;
    long rows = 0;
    for (int run = 0; run < 8; run++) {
      long begin = cpuNanos();
      rows = read(format, columns, content, null);
      best = Math.min(best, (double) (cpuNanos() - begin));
      begin = cpuNanos();
      CsvOptions written = CsvFiles.csv().build(false);
      try (RowsOutput output =
          new CsvFormat(written)
              .write(
                  counted,
                  columns,
                  new FileFormat.Description(""),
                  new CsvFiles.Memory(Long.MAX_VALUE))) {
        read(format, columns, content, output);
        output.end();
      }
      bestWrite = Math.min(bestWrite, (double) (cpuNanos() - begin));
    }
    System.out.printf(
        "%s: %d bytes a row; read %.0f MB/s, %.2f M rows/s; written %.0f MB/s%n",
        name,
        content.length / rows,
        content.length * 1e3 / best,
        rows * 1e3 / best,
        content.length * 1e3 / Math.max(1, bestWrite - best));
  }

  private static long read(
      FileFormat format,
      List<LoadColumn> columns,
      byte[] content,
      @org.jspecify.annotations.Nullable RowsOutput output) {
    long rows = 0;
    try (RowsFile file =
        format.read(
            new CsvFiles.Bytes("in:x", content),
            columns,
            false,
            new CsvFiles.Memory(Long.MAX_VALUE))) {
      for (RowsPart part = file.next(); part != null; part = file.next()) {
        try (RowsPart open = part) {
          MemorySegment batch = batch(open);
          while (batch != null) {
            if (output != null) {
              output.rows(batch);
            }
            batch = batch(open);
          }
          rows += open.rows();
        }
      }
    }
    return rows;
  }

  private static @org.jspecify.annotations.Nullable MemorySegment batch(RowsPart part) {
    return part.next((origin, failure) -> {
      throw failure;
    });
  }

  /// Work of the thread that draws the parts, under their lock.
  private static void scan(byte[] content) {
    byte[] padded = java.util.Arrays.copyOf(content, content.length + 8);
    double best = Double.MAX_VALUE;
    for (int run = 0; run < 20; run++) {
      RowEnds ends = new RowEnds(CsvFiles.csv().build(true), LineEnd.LF);
      long begin = cpuNanos();
      ends.scan(padded, 0, content.length, 0);
      best = Math.min(best, (double) (cpuNanos() - begin));
    }
    System.out.printf("scan for row ends: %.0f MB/s%n", content.length * 1e3 / best);
  }

  /// Counts what is written.
  private static final class Counted implements FileOutput {
    private long bytes;

    @Override
    public void write(byte[] source, int from, int count) {
      bytes += count;
    }

    @Override
    public void write(ByteBuffer source) {
      bytes += source.remaining();
    }

    @Override
    public long position() {
      return bytes;
    }
  }
}
