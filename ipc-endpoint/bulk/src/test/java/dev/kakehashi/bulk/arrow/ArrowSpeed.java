package dev.kakehashi.bulk.arrow;

import dev.kakehashi.bulk.arrow.ArrowOptions.Codec;
import dev.kakehashi.bulk.format.FileFormat.Description;
import dev.kakehashi.bulk.format.FileOutput;
import dev.kakehashi.bulk.format.RowsFile;
import dev.kakehashi.bulk.format.RowsOutput;
import dev.kakehashi.bulk.format.RowsPart;
import dev.kakehashi.bulk.value.BudgetContext;
import dev.kakehashi.bulk.value.MemoryFile;
import dev.kakehashi.bulk.value.RandomTable;
import dev.kakehashi.engine.api.bulk.LoadColumn;
import dev.kakehashi.formats.TypeName;
import dev.kakehashi.protocol.RowBatchReader;
import dev.kakehashi.protocol.RowBatchWriter;
import dev.kakehashi.protocol.TypeOid;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.management.ManagementFactory;
import java.math.BigDecimal;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.List;
import java.util.Random;
import org.jspecify.annotations.Nullable;

/// How fast rows like TPC-H's lineitem are written into Arrow and read: run it, it prints. Beside it what a copy of the file takes.
final class ArrowSpeed {
  private static final int BATCH_ROWS = 2000;
  private static final int BATCHES = Integer.getInteger("kakehashi.speed.batches", 500);
  private static final int ROUNDS = Integer.getInteger("kakehashi.speed.rounds", 5);
  private static final List<LoadColumn> COLUMNS =
      List.of(
          column("l_orderkey", TypeOid.INT8, -1),
          column("l_partkey", TypeOid.INT8, -1),
          column("l_suppkey", TypeOid.INT4, -1),
          column("l_linenumber", TypeOid.INT4, -1),
          column("l_quantity", TypeOid.NUMERIC, RandomTable.numeric(15, 2)),
          column("l_extendedprice", TypeOid.NUMERIC, RandomTable.numeric(15, 2)),
          column("l_discount", TypeOid.NUMERIC, RandomTable.numeric(15, 2)),
          column("l_tax", TypeOid.NUMERIC, RandomTable.numeric(15, 2)),
          column("l_returnflag", TypeOid.BPCHAR, 5),
          column("l_linestatus", TypeOid.BPCHAR, 5),
          column("l_shipdate", TypeOid.DATE, -1),
          column("l_commitdate", TypeOid.DATE, -1),
          column("l_receiptdate", TypeOid.DATE, -1),
          column("l_shipinstruct", TypeOid.BPCHAR, 29),
          column("l_shipmode", TypeOid.BPCHAR, 14),
          column("l_comment", TypeOid.VARCHAR, 48));

  private ArrowSpeed() {}

  /// Nanoseconds of the processor, so that others on the machine do not matter.
  private static long cpu() {
    return ManagementFactory.getThreadMXBean().getCurrentThreadCpuTime();
  }

  private static LoadColumn column(String name, int typeOid, int typeModifier) {
    return new LoadColumn(
        name, typeOid, typeModifier, TypeName.of(typeOid, typeModifier), true, List.of());
  }

  /// Discards nothing: writes to a file by a channel.
  private record ChannelOutput(FileChannel channel) implements FileOutput {
    @Override
    public void write(byte[] bytes, int from, int count) {
      write(ByteBuffer.wrap(bytes, from, count));
    }

    @Override
    public void write(ByteBuffer bytes) {
      try {
        while (bytes.hasRemaining()) {
          channel.write(bytes);
        }
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }

    @Override
    public long position() {
      try {
        return channel.position();
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }
  }

  public static void main(String[] arguments) throws IOException {
    MemorySegment batch = batch();
    Path file = Files.createTempFile(Path.of("target"), "speed", ".arrow");
    Path copy = file.resolveSibling(file.getFileName() + ".copy");
    try {
      for (Codec codec : Codec.values()) {
        for (int round = 0; round < ROUNDS; round++) {
          measure(codec, batch, file, copy);
        }
      }
    } finally {
      Files.deleteIfExists(file);
      Files.deleteIfExists(copy);
    }
  }

  private static void measure(Codec codec, MemorySegment batch, Path file, Path copy)
      throws IOException {
    BudgetContext context = new BudgetContext(1L << 30);
    ArrowFormat format = new ArrowFormat(ArrowOptions.DEFAULT.withCodec(codec));
    long begin = cpu();
    try (FileChannel channel =
            FileChannel.open(file, StandardOpenOption.WRITE, StandardOpenOption.TRUNCATE_EXISTING);
        RowsOutput out =
            format.write(new ChannelOutput(channel), COLUMNS, new Description(""), context)) {
      for (int i = 0; i < BATCHES; i++) {
        out.rows(batch);
      }
      out.end();
    }
    long written = cpu() - begin;
    Files.deleteIfExists(copy);
    begin = cpu();
    Files.copy(file, copy);
    long copied = cpu() - begin;
    MemoryFile input = new MemoryFile(Files.readAllBytes(file));
    begin = cpu();
    long rows = read(format, input, context);
    long read = cpu() - begin;
    System.out.printf(
        "%s: %d rows, %.0f MB: write %.2f M rows/s %.0f MB/s, copy %.0f MB/s, read %.2f M rows/s%n",
        codec,
        rows,
        input.sizeBytes() / 1e6,
        rows * 1e3 / written,
        input.sizeBytes() * 1e3 / written,
        input.sizeBytes() * 1e3 / copied,
        rows * 1e3 / read);
  }

  private static long read(ArrowFormat format, MemoryFile input, BudgetContext context) {
    long rows = 0;
    RowBatchReader reader = new RowBatchReader();
    try (RowsFile opened = format.read(input, COLUMNS, true, context)) {
      for (RowsPart next = opened.next(); next != null; next = opened.next()) {
        try (RowsPart part = next) {
          for (@Nullable MemorySegment batch = rows(part); batch != null; batch = rows(part)) {
            rows += reader.wrap(batch).rowCount();
          }
        }
      }
    }
    return rows;
  }

  private static @Nullable MemorySegment rows(RowsPart part) {
    return part.next((origin, failure) -> {
      throw failure;
    });
  }

  private static MemorySegment batch() {
    Random random = new Random(1);
    RowBatchWriter writer = RowBatchWriter.growable(COLUMNS.size(), BATCH_ROWS, 1 << 24);
    List<String> modes = List.of("AIR", "TRUCK", "RAIL", "SHIP", "REG AIR");
    for (int row = 0; row < BATCH_ROWS; row++) {
      writer.addRow();
      writer.setLong(0, row / 4);
      writer.setLong(1, random.nextInt(200_000));
      writer.setLong(2, random.nextInt(10_000));
      writer.setLong(3, row % 7);
      writer.setNumeric(4, BigDecimal.valueOf(random.nextInt(50) * 100L, 2));
      writer.setNumeric(5, BigDecimal.valueOf(random.nextInt(10_000_000), 2));
      writer.setNumeric(6, BigDecimal.valueOf(random.nextInt(10), 2));
      writer.setNumeric(7, BigDecimal.valueOf(random.nextInt(9), 2));
      writer.setString(8, "N");
      writer.setString(9, "O");
      writer.setLong(10, random.nextInt(-3000, 0));
      writer.setLong(11, random.nextInt(-3000, 0));
      writer.setLong(12, random.nextInt(-3000, 0));
      writer.setString(13, "%-25s".formatted("DELIVER IN PERSON"));
      writer.setString(14, "%-10s".formatted(modes.get(random.nextInt(5))));
      writer.setString(15, "carefully final deposits detect".substring(random.nextInt(20)));
    }
    writer.finish();
    return MemorySegment.ofArray(writer.batch().toArray(ValueLayout.JAVA_BYTE));
  }
}
