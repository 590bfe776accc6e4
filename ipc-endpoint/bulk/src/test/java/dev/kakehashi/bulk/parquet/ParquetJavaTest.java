package dev.kakehashi.bulk.parquet;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.kakehashi.bulk.BulkDirectories;
import dev.kakehashi.bulk.parquet.page.ParquetCodec;
import dev.kakehashi.bulk.parquet.page.ParquetOptions;
import dev.kakehashi.bulk.parquet.page.ParquetOptions.Infinity;
import dev.kakehashi.bulk.value.MemoryFile;
import dev.kakehashi.engine.api.bulk.CopyRequest;
import dev.kakehashi.engine.api.bulk.InspectedItem;
import dev.kakehashi.engine.api.bulk.LoadColumn;
import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.protocol.ErrorCode;
import dev.kakehashi.protocol.RowBatchWriter;
import dev.kakehashi.protocol.TypeOid;
import java.lang.foreign.MemorySegment;
import java.math.BigDecimal;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.apache.parquet.ParquetReadOptions;
import org.apache.parquet.column.ParquetProperties.WriterVersion;
import org.apache.parquet.column.statistics.Statistics;
import org.apache.parquet.conf.ParquetConfiguration;
import org.apache.parquet.conf.PlainParquetConfiguration;
import org.apache.parquet.example.data.Group;
import org.apache.parquet.example.data.simple.SimpleGroupFactory;
import org.apache.parquet.hadoop.ParquetFileReader;
import org.apache.parquet.hadoop.ParquetReader;
import org.apache.parquet.hadoop.ParquetWriter;
import org.apache.parquet.hadoop.api.ReadSupport;
import org.apache.parquet.hadoop.example.ExampleParquetWriter;
import org.apache.parquet.hadoop.example.GroupReadSupport;
import org.apache.parquet.hadoop.metadata.BlockMetaData;
import org.apache.parquet.hadoop.metadata.ColumnChunkMetaData;
import org.apache.parquet.hadoop.metadata.CompressionCodecName;
import org.apache.parquet.io.InputFile;
import org.apache.parquet.io.LocalInputFile;
import org.apache.parquet.io.LocalOutputFile;
import org.apache.parquet.io.api.Binary;
import org.apache.parquet.schema.MessageType;
import org.apache.parquet.schema.MessageTypeParser;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ParquetJavaTest {
  private static final int ROWS = 2500;
  private static final int JULIAN_2000 = 2_451_545;

  private static final MessageType SCHEMA =
      MessageTypeParser.parseMessageType(
          """
          message m {
            optional int32 i4;
            required int64 i8;
            optional boolean b;
            optional float f4;
            optional double f8;
            optional binary s (STRING);
            required binary prefixed (STRING);
            optional int96 legacy;
            optional fixed_len_byte_array(5) n (DECIMAL(10,2));
            optional binary nb (DECIMAL(30,3));
            optional int32 u (INTEGER(32,false));
            optional int64 nanos (TIMESTAMP(NANOS,false));
            optional int32 millis (TIME(MILLIS,true));
            optional fixed_len_byte_array(2) half (FLOAT16);
            optional fixed_len_byte_array(12) iv (INTERVAL);
            repeated int32 bare;
            optional group two (LIST) { repeated int32 array; }
            optional group three (LIST) { repeated group list { optional binary element (STRING); } }
            optional group m (MAP) { repeated group key_value { required int32 key; optional int32 value; } }
          }
          """);

  @TempDir private Path directory;

  /// Reads groups.
  private static final class GroupReader extends ParquetReader.Builder<Group> {
    GroupReader(InputFile file) {
      super(file, new PlainParquetConfiguration());
    }

    @Override
    protected ReadSupport<Group> getReadSupport() {
      return new GroupReadSupport();
    }
  }

  private static byte[] int96(int row) {
    return ByteBuffer.allocate(12)
        .order(ByteOrder.LITTLE_ENDIAN)
        .putLong(row * 1000L)
        .putInt(JULIAN_2000 + row % 100)
        .array();
  }

  private static byte[] fixed(long value, int width) {
    byte[] bytes = new byte[width];
    for (int i = 0; i < width; i++) {
      bytes[width - 1 - i] = (byte) (value >> (8 * i));
    }
    return bytes;
  }

  private static Group group(int row) {
    Group group = new SimpleGroupFactory(SCHEMA).newGroup();
    group.append("i8", row * 10_000_000_000L);
    group.append("prefixed", "common beginning " + (row / 3));
    for (int i = 0; i < row % 3; i++) {
      group.append("bare", row + i);
    }
    if (row % 4 == 1) {
      return group;
    }
    group.append("i4", row * 7919);
    group.append("b", row % 3 == 0);
    group.append("f4", row / 4f);
    group.append("f8", row / 8d);
    group.append("s", "s" + row % 10);
    group.append("legacy", Binary.fromConstantByteArray(int96(row)));
    group.append("n", Binary.fromConstantByteArray(fixed(row * 101L - 5000, 5)));
    group.append("nb", Binary.fromConstantByteArray(fixed(row - 100L, 1 + Integer.BYTES)));
    group.append("u", -1 - row);
    group.append("nanos", row * 1000L);
    group.append("millis", row);
    group.append("half", Binary.fromConstantByteArray(new byte[] {0, 0x3E}));
    group.append(
        "iv",
        Binary.fromConstantByteArray(
            ByteBuffer.allocate(12)
                .order(ByteOrder.LITTLE_ENDIAN)
                .putInt(14)
                .putInt(3)
                .putInt(5)
                .array()));
    Group two = group.addGroup("two");
    Group three = group.addGroup("three");
    for (int i = 0; i < row % 3; i++) {
      two.append("array", i);
      Group element = three.addGroup("list");
      if (i == 1) {
        element.append("element", "e" + row);
      }
    }
    return group;
  }

  private static String expected(int row) {
    List<String> bare = new ArrayList<>();
    List<String> two = new ArrayList<>();
    List<String> three = new ArrayList<>();
    for (int i = 0; i < row % 3; i++) {
      bare.add(Integer.toString(row + i));
      two.add(Integer.toString(i));
      three.add(i == 1 ? "e" + row : "NULL");
    }
    String always =
        "i8="
            + row * 10_000_000_000L
            + " prefixed=common beginning "
            + (row / 3)
            + " bare={"
            + String.join(",", bare)
            + "} ";
    if (row % 4 == 1) {
      return always
          + "i4=null b=null f4=null f8=null s=null legacy=null n=null nb=null u=null nanos=null "
          + "millis=null half=null iv=null two=null three=null ";
    }
    long micros = row % 1000;
    return always
        + "i4="
        + row * 7919
        + " b="
        + (row % 3 == 0 ? "t" : "f")
        + " f4="
        + number(row / 4d)
        + " f8="
        + number(row / 8d)
        + " s=s"
        + row % 10
        + " legacy=2000-"
        + "%02d-%02d".formatted(1 + month(row % 100), day(row % 100))
        + " 00:00:00"
        + fraction(row)
        + " n="
        + BigDecimal.valueOf(row * 101L - 5000, 2)
        + " nb="
        + BigDecimal.valueOf(row - 100L, 3)
        + " u="
        + (4_294_967_295L - row)
        + " nanos=1970-01-01 00:00:00"
        + fraction(row)
        + " millis=00:00:0"
        + row / 1000
        + (micros == 0 ? "" : strip("." + "%03d".formatted(micros)))
        + " half=1.5"
        + " iv=1 year 2 mons 3 days 00:00:00.005"
        + " two={"
        + String.join(",", two)
        + "} three={"
        + String.join(",", three)
        + "} ";
  }

  private static String number(double value) {
    return value == (long) value ? Long.toString((long) value) : Double.toString(value);
  }

  private static String fraction(int micros) {
    return micros == 0 ? "" : strip(".%06d".formatted(micros));
  }

  private static String strip(String digits) {
    return digits.replaceAll("0+$", "");
  }

  private static int month(int day) {
    return day < 31 ? 0 : day < 60 ? 1 : day < 91 ? 2 : 3;
  }

  private static int day(int day) {
    int[] before = {0, 31, 60, 91};
    return day - before[month(day)] + 1;
  }

  /// Without compression, which needs more of Hadoop; DuckDB's files have it.
  private Path written(WriterVersion version, boolean dictionary) throws Exception {
    Path path = directory.resolve("theirs.parquet");
    try (ParquetWriter<Group> writer =
        ExampleParquetWriter.builder(new LocalOutputFile(path))
            .withConf((ParquetConfiguration) new PlainParquetConfiguration())
            .withType(SCHEMA)
            .withWriterVersion(version)
            .withCompressionCodec(CompressionCodecName.UNCOMPRESSED)
            .withDictionaryEncoding(dictionary)
            .withPageRowCountLimit(700)
            .build()) {
      for (int row = 0; row < ROWS; row++) {
        writer.write(group(row));
      }
    }
    return path;
  }

  @ParameterizedTest
  @CsvSource({"PARQUET_1_0, true", "PARQUET_1_0, false", "PARQUET_2_0, true", "PARQUET_2_0, false"})
  void shouldReadWhatParquetJavaWrites(WriterVersion version, boolean dictionary) throws Exception {
    Path path = written(version, dictionary);
    List<LoadColumn> columns = new ArrayList<>();
    for (String name :
        List.of(
            "i8",
            "prefixed",
            "bare",
            "i4",
            "b",
            "f4",
            "f8",
            "s",
            "legacy",
            "n",
            "nb",
            "u",
            "nanos",
            "millis",
            "half",
            "iv",
            "two",
            "three")) {
      columns.add(ParquetTable.column(name, TypeOid.TEXT, -1, "text"));
    }
    MemoryFile file = new MemoryFile(Files.readAllBytes(path));
    List<String> rows = ParquetFiles.read(file, columns, ParquetOptions.DEFAULT);
    assertEquals(ROWS, rows.size());
    for (int row = 0; row < ROWS; row++) {
      assertEquals(expected(row), rows.get(row), "row " + row);
    }
    EngineException map =
        assertThrows(
            EngineException.class,
            () ->
                ParquetFiles.read(
                    file,
                    List.of(ParquetTable.column("m", TypeOid.TEXT, -1, "text")),
                    ParquetOptions.DEFAULT));
    assertEquals(ErrorCode.FEATURE_NOT_SUPPORTED, map.code());
    assertEquals("m", map.columnName());
  }

  @Test
  void shouldProposeATableOfTheColumnsThatAreRead() throws Exception {
    BulkDirectories places = new BulkDirectories(directory.resolve("places"));
    Files.copy(written(WriterVersion.PARQUET_1_0, true), places.in.resolve("theirs.parquet"));
    List<InspectedItem> items =
        places.open().inspect(new CopyRequest("in:theirs.parquet", List.of()), places.user, places);
    assertTrue(
        items.contains(new InspectedItem("in:theirs.parquet", "unsupported column", "m", "a map")),
        items.toString());
    String table =
        items.stream()
            .filter(item -> item.kind().equals("create table"))
            .findFirst()
            .orElseThrow()
            .value();
    assertTrue(table.startsWith("CREATE TABLE loaded (\"i4\" integer, \"i8\" bigint"), table);
    assertTrue(table.endsWith("\"three\" text[])"), table);
  }

  private static MemorySegment rows(List<LoadColumn> columns) {
    RowBatchWriter writer = RowBatchWriter.growable(columns.size(), ROWS, 1 << 26);
    for (int row = 0; row < ROWS; row++) {
      writer.addRow();
      if (row % 5 == 0) {
        for (int i = 0; i < columns.size(); i++) {
          writer.setNull(i);
        }
        continue;
      }
      writer.setLong(0, row - 1000);
      writer.setDouble(1, row == 7 ? Double.NaN : row / 2d);
      writer.setString(2, "x".repeat(70) + row);
      writer.setNumeric(3, new BigDecimal(row - 100).movePointLeft(2).setScale(5));
      writer.setString(4, row % 2 == 0 ? "{}" : "{a" + row + ",NULL}");
    }
    writer.finish();
    return writer.batch();
  }

  @Test
  void shouldBeReadByParquetJava() throws Exception {
    List<LoadColumn> columns =
        List.of(
            ParquetTable.column("i4", TypeOid.INT4, -1, "integer"),
            ParquetTable.column("f8", TypeOid.FLOAT8, -1, "double precision"),
            ParquetTable.column("s", TypeOid.TEXT, -1, "text"),
            ParquetTable.column(
                "n", TypeOid.NUMERIC, ParquetTable.numericModifier(30, 5), "numeric(30,5)"),
            ParquetTable.column("a", TypeOid.arrayOf(TypeOid.TEXT), -1, "text[]"));
    ParquetOptions options =
        new ParquetOptions(
            1024,
            ParquetCodec.UNCOMPRESSED,
            Map.of(),
            null,
            Set.of(),
            Infinity.REFUSE,
            false,
            false,
            false);
    MemoryFile file = ParquetFiles.write(columns, options, List.of(rows(columns)));
    Path path = Files.write(directory.resolve("ours.parquet"), file.bytes());
    InputFile input = new LocalInputFile(path);
    try (ParquetReader<Group> reader =
        new GroupReader(input).usePageChecksumVerification().build()) {
      for (int row = 0; row < ROWS; row++) {
        Group group = reader.read();
        assertNotNull(group);
        if (row % 5 == 0) {
          assertEquals("", group.toString());
          continue;
        }
        assertEquals(row - 1000, group.getInteger("i4", 0));
        assertEquals(row == 7 ? Double.NaN : row / 2d, group.getDouble("f8", 0));
        assertEquals("x".repeat(70) + row, group.getString("s", 0));
        assertEquals(
            new java.math.BigInteger(Integer.toString(row - 100))
                .multiply(new java.math.BigInteger("1000")),
            new java.math.BigInteger(group.getBinary("n", 0).getBytes()));
        assertEquals(row % 2 == 0 ? 0 : 2, group.getGroup("a", 0).getFieldRepetitionCount("list"));
      }
      assertEquals(null, reader.read());
    }
    try (ParquetFileReader reader =
        ParquetFileReader.open(
            input, ParquetReadOptions.builder(new PlainParquetConfiguration()).build())) {
      assertEquals(ROWS, reader.getRecordCount());
      assertNotNull(reader.getFileMetaData().getKeyValueMetaData().get("kakehashi.schema"));
      for (BlockMetaData block : reader.getFooter().getBlocks()) {
        checkStatistics(reader, block);
      }
    }
  }

  private static void checkStatistics(ParquetFileReader reader, BlockMetaData block)
      throws Exception {
    for (ColumnChunkMetaData chunk : block.getColumns()) {
      Statistics<?> statistics = chunk.getStatistics();
      assertTrue(statistics.isNumNullsSet(), chunk.toString());
      assertTrue(statistics.hasNonNullValue(), chunk.toString());
      assertNotNull(reader.readOffsetIndex(chunk));
      assertNotNull(reader.readColumnIndex(chunk));
    }
    ColumnChunkMetaData first = block.getColumns().getFirst();
    long begin = block.getRowIndexOffset();
    long least = begin % 5 == 0 ? begin + 1 : begin;
    assertEquals((int) least - 1000, first.getStatistics().genericGetMin());
  }
}
