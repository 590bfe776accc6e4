package dev.kakehashi.formats;

import dev.kakehashi.engine.api.Statement;
import dev.kakehashi.protocol.RowBatchWriter;
import dev.kakehashi.protocol.TypeOid;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.management.ManagementFactory;
import java.math.BigDecimal;
import java.util.List;
import java.util.Random;
import java.util.UUID;

/// Shows how fast each format is written, by processor time of one thread: run it by hand. Bytes are those that come out; "in" are those of
/// the row batches.
final class EncoderSpeed {
  private static final int ROWS = 2000;
  private static final long NANOS = 2_000_000_000L;

  private EncoderSpeed() {}

  public static void main(String[] arguments) throws IOException {
    List<Statement.Column> orders =
        List.of(
            new Statement.Column("o_orderkey", TypeOid.INT8, -1),
            new Statement.Column("o_custkey", TypeOid.INT4, -1),
            new Statement.Column("o_orderstatus", TypeOid.BPCHAR, 5),
            new Statement.Column("o_totalprice", TypeOid.NUMERIC, (15 << 16 | 2) + 4),
            new Statement.Column("o_orderdate", TypeOid.DATE, -1),
            new Statement.Column("o_changed", TypeOid.TIMESTAMPTZ, -1),
            new Statement.Column("o_ratio", TypeOid.FLOAT8, -1),
            new Statement.Column("o_comment", TypeOid.VARCHAR, 83));
    measure("orders", orders, orders());
    List<Statement.Column> numbers =
        List.of(
            new Statement.Column("a", TypeOid.INT8, -1),
            new Statement.Column("b", TypeOid.INT8, -1),
            new Statement.Column("c", TypeOid.INT4, -1),
            new Statement.Column("d", TypeOid.FLOAT8, -1));
    measure("numbers", numbers, numbers());
    measurePoint(orders);
    measure("uuids", List.of(new Statement.Column("u", TypeOid.UUID, -1)), uuids());
  }

  /// Processor time of this thread: others may use the processors, too.
  private static long cpuNanos() {
    return ManagementFactory.getThreadMXBean().getCurrentThreadCpuTime();
  }

  private static MemorySegment orders() {
    Random random = new Random(1);
    RowBatchWriter writer = RowBatchWriter.growable(8, ROWS, 1 << 24);
    for (int i = 0; i < ROWS; i++) {
      writer.addRow();
      writer.setLong(0, 4L * i + 6_000_000);
      writer.setLong(1, random.nextInt(150_000));
      writer.setString(2, "O");
      writer.setNumeric(3, BigDecimal.valueOf(random.nextInt(50_000_000), 2));
      writer.setLong(4, random.nextInt(10_000));
      writer.setLong(5, random.nextLong(800_000_000_000_000L));
      writer.setDouble(6, random.nextInt(1_000_000) / 1000.0);
      writer.setString(
          7, "carefully final deposits are slyly above the quickly ".substring(random.nextInt(25)));
    }
    return finished(writer);
  }

  /// An answer of one row, with an encoder of its own.
  private static void measurePoint(List<Statement.Column> columns) throws IOException {
    RowBatchWriter writer = RowBatchWriter.growable(8, 1, 1 << 16);
    writer.addRow();
    for (int i = 0; i < 8; i++) {
      writer.setNull(i);
    }
    writer.setLong(0, 7);
    writer.setString(7, "a comment");
    MemorySegment batch = finished(writer);
    for (int round = 0; round < 3; round++) {
      long begin = cpuNanos();
      int answers = 200_000;
      for (int i = 0; i < answers; i++) {
        ByteArrayOutputStream out = new ByteArrayOutputStream(512);
        RowEncoder encoder = RowEncoder.of(Format.JSON, FormatOptions.of(Format.JSON));
        encoder.begin(columns, out);
        encoder.rows(batch);
        encoder.end(1);
      }
      System.out.printf("point JSON %,d ns an answer%n", (cpuNanos() - begin) / answers);
    }
  }

  private static MemorySegment numbers() {
    Random random = new Random(1);
    RowBatchWriter writer = RowBatchWriter.growable(4, ROWS, 1 << 24);
    for (int i = 0; i < ROWS; i++) {
      writer.addRow();
      writer.setLong(0, i);
      writer.setLong(1, random.nextLong());
      writer.setLong(2, random.nextInt());
      writer.setDouble(3, random.nextDouble());
    }
    return finished(writer);
  }

  private static MemorySegment uuids() {
    RowBatchWriter writer = RowBatchWriter.growable(1, ROWS, 1 << 24);
    for (int i = 0; i < ROWS; i++) {
      writer.addRow();
      writer.setUuid(0, new UUID(0x1234_5678_9ABC_DEF0L * i, i));
    }
    return finished(writer);
  }

  private static MemorySegment finished(RowBatchWriter writer) {
    int bytes = writer.finish();
    MemorySegment batch = Arena.global().allocate(bytes, 8);
    return batch.copyFrom(writer.batch());
  }

  private static void measure(String name, List<Statement.Column> columns, MemorySegment batch)
      throws IOException {
    for (Format format : Format.values()) {
      for (int round = 0; round < 3; round++) {
        long[] bytes = {0};
        OutputStream out =
            new OutputStream() {
              @Override
              public void write(int value) {
                bytes[0]++;
              }

              @Override
              public void write(byte[] written, int from, int count) {
                bytes[0] += count;
              }
            };
        RowEncoder encoder = RowEncoder.of(format, FormatOptions.of(format));
        encoder.begin(columns, out);
        long begin = cpuNanos();
        long batches = 0;
        long end = begin;
        while (end - begin < NANOS) {
          encoder.rows(batch);
          batches++;
          end = cpuNanos();
        }
        encoder.end(batches * ROWS);
        double seconds = (end - begin) / 1e9;
        System.out.printf(
            "%-8s %-7s %7.0f MB/s %7.0f MB/s in %8.2f M rows/s%n",
            name,
            format,
            bytes[0] / seconds / 1e6,
            batches * batch.byteSize() / seconds / 1e6,
            batches * ROWS / seconds / 1e6);
      }
    }
  }
}
