package dev.kakehashi.bulk.parquet;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.kakehashi.bulk.parquet.page.ParquetCodec;
import dev.kakehashi.bulk.parquet.page.ParquetOptions;
import dev.kakehashi.bulk.parquet.page.ParquetOptions.Infinity;
import dev.kakehashi.bulk.value.MemoryFile;
import dev.kakehashi.engine.api.bulk.LoadColumn;
import dev.kakehashi.protocol.RowBatchWriter;
import dev.kakehashi.protocol.TypeOid;
import dev.kakehashi.protocol.value.PgInterval;
import java.lang.foreign.MemorySegment;
import java.math.BigDecimal;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Instant;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.LocalTime;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

class ParquetDuckDbTest {
  private static final int ROWS = 1500;
  private static Connection duck;
  @TempDir private Path directory;

  @BeforeAll
  static void open() throws SQLException {
    duck = DriverManager.getConnection("jdbc:duckdb:");
    try (Statement statement = duck.createStatement()) {
      statement.execute("SET TimeZone = 'UTC'");
      statement.execute("SET threads = 1");
    }
  }

  @AfterAll
  static void close() throws SQLException {
    duck.close();
  }

  private static ParquetOptions options(ParquetCodec codec) {
    return new ParquetOptions(
        1024, codec, Map.of(), null, Set.of(), Infinity.REFUSE, false, false, false);
  }

  private static List<String> query(String sql) throws SQLException {
    List<String> rows = new ArrayList<>();
    try (Statement statement = duck.createStatement();
        ResultSet result = statement.executeQuery(sql)) {
      while (result.next()) {
        StringBuilder row = new StringBuilder();
        for (int i = 1; i <= result.getMetaData().getColumnCount(); i++) {
          row.append(i == 1 ? "" : "|").append(result.getString(i));
        }
        rows.add(row.toString());
      }
    }
    return rows;
  }

  private static final List<LoadColumn> TYPES =
      ParquetTable.allTypes().stream()
          .filter(column -> !column.name().equals("n70") && !column.name().equals("aiv"))
          .toList();

  private static final String EXPECTED =
      "true|-7|123456|-9007199254740993|1.5|-2.25|1234567.89|-12345678901234.5678|"
          + "9999999999999999999999999999.0123456789|123.4500|2024-02-29|23:59:59.999999|"
          + "2024-02-29 12:34:56.789012|2024-02-29T12:34:56.789012Z|"
          + "{'months': 14, 'days': -3, 'micros': 4000005}|"
          + "00112233-4455-6677-8899-aabbccddeeff|text あ|short|\\x00\\xFF\\x10|"
          + "{\"a\": [1]}|12:34:56+02|ok|[1, NULL, 3]|[a, NULL, b c]|[1.50, NULL]|[0.5]|"
          + "[00112233-4455-6677-8899-aabbccddeeff]";

  private static MemorySegment sample(int rows) {
    RowBatchWriter writer = RowBatchWriter.growable(TYPES.size(), rows, 1 << 26);
    for (int row = 0; row < rows; row++) {
      writer.addRow();
      for (int i = 0; i < TYPES.size(); i++) {
        if (row % 3 == 1) {
          writer.setNull(i);
        } else {
          set(writer, i, TYPES.get(i).name());
        }
      }
    }
    writer.finish();
    return writer.batch();
  }

  private static void set(RowBatchWriter writer, int i, String name) {
    UUID uuid = UUID.fromString("00112233-4455-6677-8899-aabbccddeeff");
    switch (name) {
      case "b" -> writer.setBoolean(i, true);
      case "i2" -> writer.setLong(i, -7);
      case "i4" -> writer.setLong(i, 123_456);
      case "i8" -> writer.setLong(i, -9_007_199_254_740_993L);
      case "f4" -> writer.setFloat(i, 1.5f);
      case "f8" -> writer.setDouble(i, -2.25);
      case "n9" -> writer.setNumeric(i, new BigDecimal("1234567.89"));
      case "n18" -> writer.setNumeric(i, new BigDecimal("-12345678901234.5678"));
      case "n38" -> writer.setNumeric(i, new BigDecimal("9999999999999999999999999999.0123456789"));
      case "n" -> writer.setNumeric(i, new BigDecimal("123.4500"));
      case "d" -> writer.setDate(i, LocalDate.of(2024, 2, 29));
      case "t" -> writer.setTime(i, LocalTime.parse("23:59:59.999999"));
      case "ts" -> writer.setTimestamp(i, LocalDateTime.parse("2024-02-29T12:34:56.789012"));
      case "tz" -> writer.setTimestamptz(i, Instant.parse("2024-02-29T12:34:56.789012Z"));
      case "iv" -> writer.setInterval(i, new PgInterval(14, -3, 4_000_005));
      case "u" -> writer.setUuid(i, uuid);
      case "s" -> writer.setString(i, "text あ");
      case "vc" -> writer.setString(i, "short");
      case "bin" -> writer.setBytes(i, new byte[] {0, -1, 16});
      case "js" -> writer.setString(i, "{\"a\": [1]}");
      case "ttz" -> writer.setString(i, "12:34:56+02");
      case "en" -> writer.setString(i, "ok");
      case "ai" -> writer.setString(i, "{1,NULL,3}");
      case "as" -> writer.setString(i, "{a,NULL,\"b c\"}");
      case "an" -> writer.setString(i, "{1.50,NULL}");
      case "af" -> writer.setString(i, "{0.5}");
      case "au" -> writer.setString(i, "{" + uuid + "}");
      default -> throw new IllegalArgumentException(name);
    }
  }

  @ParameterizedTest
  @EnumSource(value = ParquetCodec.class, mode = EnumSource.Mode.EXCLUDE, names = "LZ4_HADOOP")
  void shouldBeReadByDuckDb(ParquetCodec codec) throws Exception {
    MemoryFile file = ParquetFiles.write(TYPES, options(codec), List.of(sample(ROWS)));
    Path path = Files.write(directory.resolve("ours.parquet"), file.bytes());
    List<String> rows = query("SELECT * EXCLUDE(bin), bin FROM '" + path + "'");
    assertEquals(ROWS, rows.size());
    List<String> all =
        query(
            "SELECT * REPLACE (bin::varchar AS bin, u::varchar AS u) FROM '" + path + "' LIMIT 3");
    assertEquals(EXPECTED, all.get(0));
    assertEquals("null" + "|null".repeat(TYPES.size() - 1), all.get(1));
    assertEquals(EXPECTED, all.get(2));
    // Ranges of row groups and pages are right: each filter finds its rows.
    assertEquals(
        List.of(Integer.toString(ROWS - ROWS / 3)),
        query(
            "SELECT count(*) FROM '"
                + path
                + "' WHERE i4 = 123456 AND s = 'text あ' AND f8 = -2.25 AND n38 > 5 AND d = DATE '2024-02-29'"));
  }

  @Test
  void shouldWriteRangesThatDuckDbPrunesBy() throws Exception {
    List<LoadColumn> columns = ParquetTable.allTypes();
    ParquetTable table = new ParquetTable(5);
    MemoryFile file =
        ParquetFiles.write(
            columns, options(ParquetCodec.SNAPPY), List.of(table.rows(columns, ROWS, 10, 0)));
    Path path = Files.write(directory.resolve("ranges.parquet"), file.bytes());
    for (String column :
        List.of("i2", "i4", "i8", "f8", "n9", "n18", "n38", "d", "ts", "tz", "s")) {
      List<String> bounds = query("SELECT min(" + column + ") FROM '" + path + "'");
      List<String> scanned =
          query("SELECT min(x) FROM (SELECT " + column + " AS x FROM '" + path + "' OFFSET 0)");
      assertEquals(scanned, bounds, column);
      String count = "SELECT count(*) FROM '" + path + "' WHERE " + column;
      String low = query("SELECT min(" + column + ")::varchar FROM '" + path + "'").getFirst();
      List<String> found = query(count + " = (SELECT min(" + column + ") FROM '" + path + "')");
      assertTrue(Integer.parseInt(found.getFirst()) > 0, column + " has its minimum " + low);
    }
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "CODEC zstd",
        "CODEC snappy",
        "CODEC gzip",
        "CODEC uncompressed",
        "CODEC lz4_raw",
        "CODEC zstd, PARQUET_VERSION v2"
      })
  void shouldReadWhatDuckDbWrites(String codec) throws Exception {
    Path path = directory.resolve("duck.parquet");
    String select =
        """
        SELECT i % 2 = 0 AS b, (i % 100)::tinyint AS i1, (i % 200)::utinyint AS u1, i::smallint AS i2,
          (i * 1000)::integer AS i4, (4294967295 - i)::uinteger AS u4, i * 10000000000 AS i8,
          (i / 8)::float AS f4, (i / 7)::double AS f8, (i / 100)::decimal(9,2) AS n9,
          (i * 1000000)::decimal(18,3) AS n18, (i * 10000000000)::decimal(38,10) AS n38,
          DATE '2000-01-01' + (i % 1000)::integer AS d, TIME '00:00:00' + to_seconds(i) AS t,
          TIMESTAMP '1999-01-01 00:00:00.123456' + to_days((i % 50)::integer) AS ts,
          TIMESTAMPTZ '2020-01-01 00:00:00+00' + to_hours(i) AS tz,
          'row ' || (i % 77) AS s, md5(i::varchar) AS h, md5(i::varchar)::uuid AS u,
          encode('x' || i) AS bin, [i, NULL, i + 1] AS ai, ['a' || i, NULL] AS at,
          CASE WHEN i % 3 = 0 THEN [] WHEN i % 3 = 1 THEN NULL ELSE [i] END AS ae,
          to_months((i % 20)::integer) + to_days(3) AS iv
        FROM range(2500) r(i)
        """;
    try (Statement statement = duck.createStatement()) {
      statement.execute(
          "CREATE OR REPLACE TABLE rows AS "
              + "SELECT * REPLACE (CASE WHEN random() < 0.2 THEN NULL ELSE s END AS s, CASE WHEN random() < 0.3 THEN NULL ELSE f8 END AS f8) FROM ("
              + select
              + ")");
      statement.execute(
          "COPY rows TO '" + path + "' (FORMAT parquet, ROW_GROUP_SIZE 2048, " + codec + ")");
    }
    List<LoadColumn> columns = new ArrayList<>();
    for (String name :
        List.of(
            "b", "i1", "u1", "i2", "i4", "u4", "i8", "f4", "f8", "n9", "n18", "n38", "d", "t", "ts",
            "tz", "s", "h", "u", "bin", "ai", "at", "ae", "iv")) {
      columns.add(ParquetTable.column(name, TypeOid.TEXT, -1, "text"));
    }
    List<String> ours =
        ParquetFiles.read(
            new MemoryFile(Files.readAllBytes(path)), columns, ParquetOptions.DEFAULT);
    List<String> theirs =
        query(
            """
            SELECT concat('b=', if(b, 't', 'f'), ' i1=', i1, ' u1=', u1, ' i2=', i2, ' i4=', i4, ' u4=', u4, ' i8=', i8,
              ' f4=', if(f4 = trunc(f4), f4::bigint::varchar, f4::varchar),
              ' f8=', coalesce(if(f8 = trunc(f8), f8::bigint::varchar, f8::varchar), 'null'),
              ' n9=', n9, ' n18=', n18, ' n38=', n38, ' d=', d, ' t=', t, ' ts=', ts, ' tz=', tz,
              ' s=', coalesce(s, 'null'), ' h=', h, ' u=', u, ' bin=', decode(bin),
              ' ai=', '{' || i8 // 10000000000 || ',NULL,' || i8 // 10000000000 + 1 || '}',
              ' at=', '{a' || i8 // 10000000000 || ',NULL}',
              ' ae=', CASE WHEN ae IS NULL THEN 'null' WHEN len(ae) = 0 THEN '{}' ELSE '{' || ae[1] || '}' END,
              ' ')
            FROM rows
            """);
    assertEquals(theirs.size(), ours.size());
    for (int i = 0; i < theirs.size(); i++) {
      String row = ours.get(i);
      assertEquals(theirs.get(i), row.substring(0, row.indexOf("iv=")), "row " + i);
    }
  }
}
