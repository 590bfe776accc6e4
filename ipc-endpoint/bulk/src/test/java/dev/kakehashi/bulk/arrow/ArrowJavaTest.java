package dev.kakehashi.bulk.arrow;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.kakehashi.bulk.arrow.ArrowOptions.Codec;
import dev.kakehashi.bulk.format.RowsFile;
import dev.kakehashi.bulk.format.RowsPart;
import dev.kakehashi.bulk.value.BudgetContext;
import dev.kakehashi.bulk.value.ExactTypes;
import dev.kakehashi.bulk.value.MemoryFile;
import dev.kakehashi.bulk.value.RandomTable;
import dev.kakehashi.engine.api.bulk.LoadColumn;
import dev.kakehashi.formats.TypeName;
import dev.kakehashi.protocol.RowBatchReader;
import dev.kakehashi.protocol.TypeOid;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.math.BigDecimal;
import java.nio.channels.Channels;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Random;
import org.apache.arrow.compression.CommonsCompressionFactory;
import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.memory.RootAllocator;
import org.apache.arrow.vector.BigIntVector;
import org.apache.arrow.vector.BitVector;
import org.apache.arrow.vector.DateMilliVector;
import org.apache.arrow.vector.Decimal256Vector;
import org.apache.arrow.vector.DecimalVector;
import org.apache.arrow.vector.FieldVector;
import org.apache.arrow.vector.FixedSizeBinaryVector;
import org.apache.arrow.vector.Float2Vector;
import org.apache.arrow.vector.Float4Vector;
import org.apache.arrow.vector.IntVector;
import org.apache.arrow.vector.IntervalDayVector;
import org.apache.arrow.vector.IntervalMonthDayNanoVector;
import org.apache.arrow.vector.IntervalYearVector;
import org.apache.arrow.vector.LargeVarCharVector;
import org.apache.arrow.vector.NullVector;
import org.apache.arrow.vector.SmallIntVector;
import org.apache.arrow.vector.TimeNanoVector;
import org.apache.arrow.vector.TimeSecVector;
import org.apache.arrow.vector.TimeStampMilliVector;
import org.apache.arrow.vector.TimeStampNanoTZVector;
import org.apache.arrow.vector.TinyIntVector;
import org.apache.arrow.vector.UInt1Vector;
import org.apache.arrow.vector.UInt4Vector;
import org.apache.arrow.vector.UInt8Vector;
import org.apache.arrow.vector.VarBinaryVector;
import org.apache.arrow.vector.VarCharVector;
import org.apache.arrow.vector.VectorSchemaRoot;
import org.apache.arrow.vector.ViewVarCharVector;
import org.apache.arrow.vector.complex.FixedSizeListVector;
import org.apache.arrow.vector.complex.LargeListVector;
import org.apache.arrow.vector.complex.ListVector;
import org.apache.arrow.vector.complex.StructVector;
import org.apache.arrow.vector.complex.impl.UnionListWriter;
import org.apache.arrow.vector.compression.CompressionCodec;
import org.apache.arrow.vector.compression.CompressionUtil.CodecType;
import org.apache.arrow.vector.compression.NoCompressionCodec;
import org.apache.arrow.vector.dictionary.Dictionary;
import org.apache.arrow.vector.dictionary.DictionaryEncoder;
import org.apache.arrow.vector.dictionary.DictionaryProvider;
import org.apache.arrow.vector.ipc.ArrowFileReader;
import org.apache.arrow.vector.ipc.ArrowFileWriter;
import org.apache.arrow.vector.ipc.ArrowReader;
import org.apache.arrow.vector.ipc.ArrowStreamReader;
import org.apache.arrow.vector.ipc.ArrowStreamWriter;
import org.apache.arrow.vector.ipc.ArrowWriter;
import org.apache.arrow.vector.ipc.message.IpcOption;
import org.apache.arrow.vector.types.FloatingPointPrecision;
import org.apache.arrow.vector.types.pojo.ArrowType;
import org.apache.arrow.vector.types.pojo.DictionaryEncoding;
import org.apache.arrow.vector.types.pojo.FieldType;
import org.apache.arrow.vector.util.ByteArrayReadableSeekableByteChannel;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/// The Arrow project's library reads ours, and we read its.
class ArrowJavaTest {
  /// More than are decoded at once.
  private static final int MANY_ROWS = 5000;

  /// Few, because the other library is slow in writing LZ4.
  private static final int FEW_ROWS = 200;

  private final BufferAllocator allocator = new RootAllocator();

  @AfterEach
  void close() {
    allocator.close();
  }

  @ParameterizedTest
  @CsvSource({"false,NONE", "true,NONE", "false,LZ4", "true,ZSTD"})
  void shouldBeReadByArrow(boolean stream, Codec codec) throws IOException {
    RandomTable table = new RandomTable(new Random(7));
    MemorySegment batch = table.batch(300);
    MemoryFile file =
        ArrowFormatTest.written(
            ArrowOptions.DEFAULT.withStream(stream).withCodec(codec),
            table.columns(),
            List.of(batch, batch));
    RowBatchReader rows = new RowBatchReader().wrap(batch);
    try (ArrowReader reader = reader(stream, file.bytes())) {
      VectorSchemaRoot root = reader.getVectorSchemaRoot();
      ExactTypes exact =
          ExactTypes.read(
              Objects.requireNonNull(root.getSchema().getCustomMetadata().get(ExactTypes.KEY)));
      assertEquals(ExactTypes.of("SELECT 1", table.columns()), exact);
      assertTrue(reader.loadNextBatch());
      assertEquals(600, root.getRowCount());
      for (FieldVector vector : root.getFieldVectors()) {
        vector.validate();
      }
      for (int row = 0; row < 600; row++) {
        check(root, row, rows, row % 300);
      }
      assertFalse(reader.loadNextBatch());
    }
  }

  private ArrowReader reader(boolean stream, byte[] bytes) {
    return stream
        ? new ArrowStreamReader(
            new ByteArrayInputStream(bytes), allocator, CommonsCompressionFactory.INSTANCE)
        : new ArrowFileReader(
            new ByteArrayReadableSeekableByteChannel(bytes),
            allocator,
            CommonsCompressionFactory.INSTANCE);
  }

  private static void check(VectorSchemaRoot root, int row, RowBatchReader rows, int expected) {
    List<FieldVector> vectors = root.getFieldVectors();
    for (int column = 0; column < vectors.size(); column++) {
      FieldVector vector = vectors.get(column);
      assertEquals(rows.isNull(expected, column), vector.isNull(row));
      Object value = vector.getObject(row);
      if (value == null) {
        continue;
      }
      switch (vector.getName()) {
        case "bool" -> assertEquals(rows.getBoolean(expected, column), value);
        case "int2" -> assertEquals(rows.getShort(expected, column), value);
        case "int8" -> assertEquals(rows.getLong(expected, column), value);
        case "float8" -> assertEquals(rows.getDouble(expected, column), value);
        case "numeric9", "numeric18", "numeric38", "numeric60" ->
            assertEquals(rows.getBigDecimal(expected, column), value);
        case "text", "bpchar", "json", "mood" ->
            assertEquals(rows.getString(expected, column), value.toString());
        default -> {
          // Compared bit by bit by the round trip.
        }
      }
    }
  }

  @ParameterizedTest
  @CsvSource({"false,NO_COMPRESSION", "true,NO_COMPRESSION", "false,LZ4_FRAME", "true,ZSTD"})
  void shouldReadArrows(boolean stream, CodecType codec) throws IOException {
    List<LoadColumn> columns =
        List.of(
            column("int1", TypeOid.INT2),
            column("uint1", TypeOid.INT4),
            column("uint4", TypeOid.INT8),
            column("uint8", TypeOid.NUMERIC),
            column("half", TypeOid.FLOAT4),
            column("float4", TypeOid.FLOAT8),
            column("decimal", TypeOid.NUMERIC),
            column("decimal256", TypeOid.NUMERIC),
            column("whole", TypeOid.INT4),
            column("dateMilli", TypeOid.DATE),
            column("timeSec", TypeOid.TIME),
            column("timeNano", TypeOid.TIME),
            column("milli", TypeOid.TIMESTAMP),
            column("nanoTz", TypeOid.TIMESTAMPTZ),
            column("large", TypeOid.TEXT),
            column("view", TypeOid.TEXT),
            column("binary", TypeOid.BYTEA),
            column("fixed", TypeOid.BYTEA),
            column("months", TypeOid.INTERVAL),
            column("days", TypeOid.INTERVAL),
            column("monthDayNano", TypeOid.INTERVAL),
            column("nothing", TypeOid.TEXT),
            column("list", TypeOid.arrayOf(TypeOid.INT8)),
            column("largeList", TypeOid.arrayOf(TypeOid.INT4)),
            column("pairs", TypeOid.arrayOf(TypeOid.INT2)),
            column("word", TypeOid.TEXT),
            column("bit", TypeOid.BOOL));
    int count = codec == CodecType.LZ4_FRAME ? FEW_ROWS : MANY_ROWS;
    byte[] bytes = theirs(stream, codec, count);
    List<String> rows = texts(new MemoryFile(bytes), columns);
    assertEquals(2 * count, rows.size());
    for (int i = 0; i < 2 * count; i++) {
      int row = i % count;
      assertEquals(row % 7 == 3 ? nulls(columns.size()) : expected(row), rows.get(i), "row " + i);
    }
  }

  private static String nulls(int count) {
    return "-".repeat(count).replace("-", "null;");
  }

  private static String expected(int row) {
    return String.join(
            ";",
            Integer.toString((byte) row),
            Integer.toString(row & 0xFF),
            Long.toString(0xFFFF_FFFFL - row),
            Long.toUnsignedString(-1L - row),
            Float.toString(row % 1000),
            Double.toString(row / 4.0),
            new BigDecimal(row).movePointLeft(2).setScale(2).toPlainString(),
            "-" + "9".repeat(40) + "." + "%05d".formatted(row),
            Integer.toString(row),
            Integer.toString(row - 10_957),
            Long.toString(row * 1_000_000L),
            Long.toString(row * 1_000L),
            Long.toString(row * 1000L - 946_684_800_000_000L),
            Long.toString(row - 946_684_800_000_000L),
            "größer " + row,
            row % 2 == 0 ? "short" + row : "a text that is not inlined " + row,
            "0%d".formatted(row % 10),
            "0102",
            row + " months 0 days 0 us",
            "0 months " + row + " days " + row * 1000L + " us",
            "1 months " + row + " days " + (long) row + " us",
            "null",
            "{" + row + ",NULL}",
            row % 3 == 0 ? "{}" : "{" + row + "}",
            "{1," + row % 100 + "}",
            List.of("zero", "one", "two").get(row % 3),
            row % 2 == 0 ? "true" : "false")
        + ";";
  }

  private static LoadColumn column(String name, int typeOid) {
    return new LoadColumn(name, typeOid, -1, TypeName.of(typeOid, -1), true, List.of());
  }

  /// Rows as texts that are easy to make by hand.
  private static List<String> texts(MemoryFile file, List<LoadColumn> columns) {
    BudgetContext context = new BudgetContext(1L << 30);
    List<String> texts = new ArrayList<>();
    try (RowsFile rows = new ArrowFormat(ArrowOptions.DEFAULT).read(file, columns, true, context)) {
      for (RowsPart next = rows.next(); next != null; next = rows.next()) {
        try (RowsPart part = next) {
          for (@Nullable MemorySegment batch = batch(part); batch != null; batch = batch(part)) {
            RowBatchReader reader = new RowBatchReader().wrap(batch);
            for (int row = 0; row < reader.rowCount(); row++) {
              StringBuilder text = new StringBuilder();
              for (int i = 0; i < columns.size(); i++) {
                text.append(
                        reader.isNull(row, i)
                            ? "null"
                            : text(reader, row, i, columns.get(i).typeOid()))
                    .append(';');
              }
              texts.add(text.toString());
            }
          }
        }
      }
    }
    return texts;
  }

  private static @Nullable MemorySegment batch(RowsPart part) {
    return part.next((origin, failure) -> {
      throw failure;
    });
  }

  private static String text(RowBatchReader reader, int row, int column, int typeOid) {
    return switch (typeOid) {
      case TypeOid.BOOL -> Boolean.toString(reader.getBoolean(row, column));
      case TypeOid.FLOAT4 -> Float.toString(reader.getFloat(row, column));
      case TypeOid.FLOAT8 -> Double.toString(reader.getDouble(row, column));
      case TypeOid.NUMERIC -> reader.getBigDecimal(row, column).toPlainString();
      case TypeOid.BYTEA -> java.util.HexFormat.of().formatHex(reader.getBytes(row, column));
      case TypeOid.INTERVAL -> {
        var interval = reader.getInterval(row, column);
        yield interval.months()
            + " months "
            + interval.days()
            + " days "
            + interval.micros()
            + " us";
      }
      case TypeOid.INT2,
          TypeOid.INT4,
          TypeOid.INT8,
          TypeOid.DATE,
          TypeOid.TIME,
          TypeOid.TIMESTAMP,
          TypeOid.TIMESTAMPTZ ->
          Long.toString(reader.getLong(row, column));
      default -> reader.getString(row, column);
    };
  }

  /// Two record batches of the same rows, with fields among them that nobody loads.
  private byte[] theirs(boolean stream, CodecType codec, int count) throws IOException {
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    DictionaryProvider.MapDictionaryProvider dictionaries =
        new DictionaryProvider.MapDictionaryProvider();
    CompressionCodec.Factory factory =
        codec == CodecType.NO_COMPRESSION
            ? NoCompressionCodec.Factory.INSTANCE
            : CommonsCompressionFactory.INSTANCE;
    List<FieldVector> vectors = vectors(dictionaries, count);
    try (VectorSchemaRoot root = new VectorSchemaRoot(vectors);
        ArrowWriter writer =
            stream
                ? new ArrowStreamWriter(
                    root, dictionaries, Channels.newChannel(out), IpcOption.DEFAULT, factory, codec)
                : new ArrowFileWriter(
                    root,
                    dictionaries,
                    Channels.newChannel(out),
                    null,
                    IpcOption.DEFAULT,
                    factory,
                    codec)) {
      root.setRowCount(count);
      writer.start();
      writer.writeBatch();
      writer.writeBatch();
      writer.end();
    }
    dictionaries.close();
    return out.toByteArray();
  }

  private List<FieldVector> vectors(
      DictionaryProvider.MapDictionaryProvider dictionaries, int count) {
    TinyIntVector int1 = new TinyIntVector("int1", allocator);
    UInt1Vector uint1 = new UInt1Vector("uint1", allocator);
    UInt4Vector uint4 = new UInt4Vector("uint4", allocator);
    UInt8Vector uint8 = new UInt8Vector("uint8", allocator);
    Float2Vector half = new Float2Vector("half", allocator);
    Float4Vector float4 = new Float4Vector("float4", allocator);
    DecimalVector decimal = new DecimalVector("decimal", allocator, 12, 2);
    Decimal256Vector decimal256 = new Decimal256Vector("decimal256", allocator, 50, 5);
    DecimalVector whole = new DecimalVector("whole", allocator, 30, 3);
    DateMilliVector dateMilli = new DateMilliVector("dateMilli", allocator);
    TimeSecVector timeSec = new TimeSecVector("timeSec", allocator);
    TimeNanoVector timeNano = new TimeNanoVector("timeNano", allocator);
    TimeStampMilliVector milli = new TimeStampMilliVector("milli", allocator);
    TimeStampNanoTZVector nanoTz = new TimeStampNanoTZVector("nanoTz", allocator, "Europe/Berlin");
    LargeVarCharVector large = new LargeVarCharVector("large", allocator);
    ViewVarCharVector view = new ViewVarCharVector("view", allocator);
    VarBinaryVector binary = new VarBinaryVector("binary", allocator);
    FixedSizeBinaryVector fixed = new FixedSizeBinaryVector("fixed", allocator, 2);
    IntervalYearVector months = new IntervalYearVector("months", allocator);
    IntervalDayVector days = new IntervalDayVector("days", allocator);
    IntervalMonthDayNanoVector monthDayNano =
        new IntervalMonthDayNanoVector("monthDayNano", allocator);
    NullVector nothing = new NullVector("nothing", count);
    ListVector list = ListVector.empty("list", allocator);
    LargeListVector largeList = LargeListVector.empty("largeList", allocator);
    FixedSizeListVector pairs = FixedSizeListVector.empty("pairs", 2, allocator);
    StructVector struct = StructVector.empty("struct", allocator);
    IntVector inner =
        struct.addOrGet("inner", FieldType.nullable(new ArrowType.Int(32, true)), IntVector.class);
    struct.addOrGet(
        "other",
        FieldType.nullable(new ArrowType.FloatingPoint(FloatingPointPrecision.DOUBLE)),
        FieldVector.class);
    VarCharVector words = new VarCharVector("words", allocator);
    BitVector bit = new BitVector("bit", allocator);
    pairs.addOrGetVector(FieldType.nullable(new ArrowType.Int(16, true)));
    largeList.addOrGetVector(FieldType.nullable(new ArrowType.Int(32, true)));
    pairs.allocateNew();
    UnionListWriter listWriter = list.getWriter();
    SmallIntVector pair = (SmallIntVector) pairs.getDataVector();
    IntVector item = (IntVector) largeList.getDataVector();
    largeList.allocateNew();
    int items = 0;
    for (int row = 0; row < count; row++) {
      if (row % 7 == 3) {
        continue;
      }
      int1.setSafe(row, row);
      uint1.setSafe(row, row);
      uint4.setSafe(row, (int) (0xFFFF_FFFFL - row));
      uint8.setSafe(row, -1L - row);
      half.setSafe(row, Float.floatToFloat16(row % 1000));
      float4.setSafe(row, row / 4.0f);
      decimal.setSafe(row, new BigDecimal(row).movePointLeft(2).setScale(2));
      decimal256.setSafe(row, new BigDecimal("-" + "9".repeat(40) + ".%05d".formatted(row)));
      whole.setSafe(row, new BigDecimal(row).setScale(3));
      dateMilli.setSafe(row, row * 86_400_000L);
      timeSec.setSafe(row, row);
      timeNano.setSafe(row, row * 1_000_000L);
      milli.setSafe(row, row);
      nanoTz.setSafe(row, row * 1000L);
      large.setSafe(row, ("größer " + row).getBytes(StandardCharsets.UTF_8));
      view.setSafe(
          row,
          (row % 2 == 0 ? "short" + row : "a text that is not inlined " + row)
              .getBytes(StandardCharsets.UTF_8));
      binary.setSafe(row, new byte[] {(byte) (row % 10)});
      fixed.setSafe(row, new byte[] {1, 2});
      months.setSafe(row, row);
      days.setSafe(row, row, row);
      monthDayNano.setSafe(row, 1, row, row * 1000L);
      listWriter.setPosition(row);
      listWriter.startList();
      listWriter.writeBigInt(row);
      listWriter.writeNull();
      listWriter.endList();
      largeList.startNewValue(row);
      if (row % 3 != 0) {
        item.setSafe(items++, row);
      }
      largeList.endValue(row, row % 3 == 0 ? 0 : 1);
      pairs.setNotNull(row);
      pair.setSafe(2 * row, 1);
      pair.setSafe(2 * row + 1, row % 100);
      struct.setIndexDefined(row);
      inner.setSafe(row, row);
      words.setSafe(
          row, List.of("zero", "one", "two").get(row % 3).getBytes(StandardCharsets.UTF_8));
      bit.setSafe(row, row % 2 == 0 ? 1 : 0);
    }
    item.setValueCount(items);
    words.setValueCount(count);
    List<FieldVector> vectors =
        new ArrayList<>(
            List.of(
                struct,
                int1,
                uint1,
                uint4,
                uint8,
                half,
                float4,
                decimal,
                decimal256,
                whole,
                dateMilli,
                timeSec,
                timeNano,
                milli,
                nanoTz,
                large,
                view,
                binary,
                fixed,
                months,
                days,
                monthDayNano,
                nothing,
                list,
                largeList,
                pairs,
                dictionary(words, dictionaries),
                bit));
    vectors.forEach(vector -> vector.setValueCount(count));
    BigIntVector last = new BigIntVector("last", allocator);
    last.setSafe(count - 1, 1);
    last.setValueCount(count);
    vectors.add(last);
    return vectors;
  }

  private FieldVector dictionary(
      VarCharVector words, DictionaryProvider.MapDictionaryProvider dictionaries) {
    VarCharVector values = new VarCharVector("word", allocator);
    values.setSafe(0, "one".getBytes(StandardCharsets.UTF_8));
    values.setSafe(1, "two".getBytes(StandardCharsets.UTF_8));
    values.setSafe(2, "zero".getBytes(StandardCharsets.UTF_8));
    values.setValueCount(3);
    Dictionary dictionary =
        new Dictionary(values, new DictionaryEncoding(5, false, new ArrowType.Int(8, true)));
    dictionaries.put(dictionary);
    FieldVector encoded = (FieldVector) DictionaryEncoder.encode(words, dictionary);
    words.close();
    FieldVector named =
        encoded.getField().getFieldType().createNewSingleVector("word", allocator, null);
    encoded.makeTransferPair(named).transfer();
    return named;
  }
}
