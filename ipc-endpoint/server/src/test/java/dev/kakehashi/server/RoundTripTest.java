package dev.kakehashi.server;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.kakehashi.client.AttachOptions;
import dev.kakehashi.client.EndpointException;
import dev.kakehashi.client.PreparedStatement;
import dev.kakehashi.client.Rows;
import dev.kakehashi.client.Session;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HexFormat;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.UUID;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/// Random rows of all types are dumped and loaded again through each format: they are the same to the last digit.
///
/// All tests read the tables `t` and `e` of one endpoint; what a test makes besides goes with it.
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class RoundTripTest {
  private static final int ROWS = Integer.getInteger("kakehashi.roundtrip.rows", 200);
  private static final int ROWS_OF_INSERT = 50;

  @TempDir static Path directory;

  private EndpointServer server;
  private Session session;

  /// A column, and how a value of it is written.
  private record Type(String name, String sql, Function<SplittableRandom, String> value) {}

  @BeforeAll
  void open() throws IOException {
    Path out = Files.createDirectory(directory.resolve("out"));
    Settings settings =
        Settings.defaults()
            .set("data_directory", directory.resolve("data").toString())
            .set("runtime_directory", directory.resolve("run").toString())
            .set("memory", "256MB")
            .set("bulk_locations", "out:" + out + ":readwrite");
    server = EndpointServer.start(settings, new EmbeddedEngineFactory());
    session = Session.attach(AttachOptions.of(directory.resolve("run")));
    SplittableRandom random = new SplittableRandom(27);
    make("t", types());
    fill("t", types(), random);
    make("e", extremes());
    fill("e", extremes(), random);
  }

  @AfterEach
  void clear() throws IOException {
    for (String table :
        query(
            "select table_name from kakehashi_catalog.tables"
                + " where table_schema = 'public' and table_name not in ('t', 'e')")) {
      session.execute("drop table " + table);
    }
    try (Stream<Path> files = Files.walk(directory.resolve("out"))) {
      for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
        if (!file.equals(directory.resolve("out"))) {
          Files.delete(file);
        }
      }
    }
  }

  @AfterAll
  void close() {
    session.close();
    server.close();
  }

  // ---- values ----

  private static String pick(SplittableRandom random, String... values) {
    return values[random.nextInt(values.length)];
  }

  private static Function<SplittableRandom, String> integer(long min, long max) {
    return random ->
        switch (random.nextInt(4)) {
          case 0 -> pick(random, "" + min, "" + max, "0", "-1");
          case 1 -> "" + random.nextInt(-9, 10);
          default -> "" + random.nextLong(min, max);
        };
  }

  private static String decimal(SplittableRandom random, int digits, int scale) {
    StringBuilder text = new StringBuilder(random.nextBoolean() ? "-" : "");
    int whole = random.nextInt(digits - scale + 1);
    for (int i = 0; i < Math.max(whole, 1); i++) {
      text.append(whole == 0 ? 0 : random.nextInt(10));
    }
    int fraction = random.nextInt(scale + 1);
    for (int i = 0; i < fraction; i++) {
      text.append(i == 0 ? "." : "").append(random.nextInt(10));
    }
    return text.toString();
  }

  private static String text(SplittableRandom random, int most) {
    StringBuilder text = new StringBuilder();
    for (int left = random.nextInt(most + 1); left > 0; left--) {
      text.append(
          pick(
              random, "a", "B", "7", " ", ",", "\"", "\\", "\n", "\r", "\t", ";", "'", "ü", "日",
              "😀", "\\.", "\\N", "null", "\u0001", "{", "}"));
    }
    return text.codePointCount(0, text.length()) <= most
        ? text.toString()
        : new String(text.codePoints().limit(most).toArray(), 0, most);
  }

  private static String date(SplittableRandom random) {
    return "%04d-%02d-%02d"
        .formatted(
            pick(random, "x", "y").equals("x")
                ? random.nextInt(1900, 2100)
                : random.nextInt(1, 9999),
            random.nextInt(1, 13),
            random.nextInt(1, 29));
  }

  private static String time(SplittableRandom random) {
    return "%02d:%02d:%02d.%06d"
        .formatted(
            random.nextInt(24),
            random.nextInt(60),
            random.nextInt(60),
            random.nextBoolean() ? 0 : random.nextInt(1_000_000));
  }

  private static String interval(SplittableRandom random) {
    return "%d mons %d days %d microseconds"
        .formatted(
            random.nextInt(-5000, 5000),
            random.nextInt(-5000, 5000),
            random.nextLong(-1L << 50, 1L << 50));
  }

  private static String number(SplittableRandom random, boolean narrow) {
    return switch (random.nextInt(4)) {
      case 0 ->
          pick(random, "0", "-0", "NaN", "Infinity", "-Infinity", narrow ? "1e-45" : "5e-324");
      case 1 -> "" + random.nextInt(100) / 4.0;
      default ->
          narrow
              ? Float.toString((float) (random.nextDouble() * 1e30 - 5e29))
              : Double.toString(
                  (random.nextDouble() - 0.5) * Math.pow(10, random.nextInt(-300, 300)));
    };
  }

  private static String json(SplittableRandom random) {
    return switch (random.nextInt(5)) {
      case 0 -> "null";
      case 1 -> "{\"b\": [1, 2.50, \"x\\\"y\"], \"a\" : {}}";
      case 2 -> "[]";
      case 3 -> "\"" + random.nextInt() + "\"";
      default -> decimal(random, 20, 10).replaceFirst("^(-?)0+(?=\\d)", "$1");
    };
  }

  private static String bytes(SplittableRandom random) {
    StringBuilder hex = new StringBuilder("\\x");
    for (int left = random.nextInt(20); left > 0; left--) {
      hex.append("%02x".formatted(random.nextInt(256)));
    }
    return hex.toString();
  }

  private static Function<SplittableRandom, String> array(
      Function<SplittableRandom, String> element) {
    return random -> {
      List<String> elements = new ArrayList<>();
      for (int left = random.nextInt(4); left > 0; left--) {
        elements.add(
            random.nextInt(4) == 0
                ? "NULL"
                : "\"" + element.apply(random).replace("\\", "\\\\").replace("\"", "\\\"") + "\"");
      }
      return "{" + String.join(",", elements) + "}";
    };
  }

  private static List<Type> types() {
    List<Type> types = new ArrayList<>();
    types.add(new Type("a_bool", "bool", random -> random.nextBoolean() ? "t" : "f"));
    types.add(new Type("a_int2", "int2", integer(Short.MIN_VALUE, Short.MAX_VALUE)));
    types.add(new Type("a_int4", "int4", integer(Integer.MIN_VALUE, Integer.MAX_VALUE)));
    types.add(new Type("a_int8", "int8", integer(Long.MIN_VALUE, Long.MAX_VALUE)));
    types.add(new Type("a_float4", "float4", random -> number(random, true)));
    types.add(new Type("a_float8", "float8", random -> number(random, false)));
    types.add(
        new Type(
            "a_numeric",
            "numeric",
            random ->
                random.nextInt(5) == 0
                    ? pick(random, "NaN", "Infinity", "-Infinity", "0.000", "1e30")
                    : decimal(random, 60, 30)));
    types.add(new Type("a_small", "numeric(9,2)", random -> decimal(random, 9, 2)));
    types.add(new Type("a_middle", "numeric(18,6)", random -> decimal(random, 18, 6)));
    types.add(new Type("a_large", "numeric(38,10)", random -> decimal(random, 38, 10)));
    types.add(new Type("a_huge", "numeric(60,0)", random -> decimal(random, 60, 0)));
    types.add(new Type("a_text", "text", random -> text(random, 30)));
    types.add(new Type("a_varchar", "varchar(10)", random -> text(random, 10)));
    types.add(new Type("a_char", "char(5)", random -> text(random, 5)));
    types.add(new Type("a_bytea", "bytea", RoundTripTest::bytes));
    types.add(new Type("a_date", "date", RoundTripTest::date));
    types.add(new Type("a_time", "time", RoundTripTest::time));
    types.add(new Type("a_time3", "time(3)", RoundTripTest::time));
    types.add(
        new Type(
            "a_timetz",
            "timetz",
            random -> time(random) + pick(random, "+00", "-15:59", "+05:30", "+01:02:03")));
    types.add(new Type("a_timestamp", "timestamp", r -> date(r) + " " + time(r)));
    types.add(
        new Type(
            "a_timestamptz",
            "timestamptz",
            random -> date(random) + " " + time(random) + pick(random, "+00", "+09", "-07:30")));
    types.add(new Type("a_interval", "interval", RoundTripTest::interval));
    types.add(
        new Type(
            "a_uuid", "uuid", random -> new UUID(random.nextLong(), random.nextLong()).toString()));
    types.add(new Type("a_json", "json", RoundTripTest::json));
    types.add(new Type("a_jsonb", "jsonb", RoundTripTest::json));
    types.add(new Type("a_int4s", "int4[]", array(integer(Integer.MIN_VALUE, Integer.MAX_VALUE))));
    types.add(new Type("a_texts", "text[]", array(random -> text(random, 5))));
    types.add(new Type("a_numerics", "numeric[]", array(random -> decimal(random, 20, 5))));
    types.add(new Type("a_times", "timestamptz[]", array(r -> date(r) + " " + time(r) + "+00")));
    types.add(new Type("a_float8s", "float8[]", array(random -> number(random, false))));
    types.add(new Type("a_uuids", "uuid[]", array(r -> new UUID(r.nextLong(), 7).toString())));
    types.add(new Type("a_byteas", "bytea[]", array(RoundTripTest::bytes)));
    return types;
  }

  /// Values that the columnar formats do not have.
  private static List<Type> extremes() {
    List<Type> types = new ArrayList<>();
    types.add(new Type("a_date", "date", r -> pick(r, "infinity", "-infinity", "4713-01-01 BC")));
    types.add(new Type("a_time", "time", r -> pick(r, "24:00:00", "00:00:00")));
    types.add(new Type("a_stamp", "timestamp", r -> pick(r, "infinity", "-infinity", "epoch")));
    types.add(
        new Type("a_tz", "timestamptz", r -> pick(r, "infinity", "294276-12-31 23:59:59+00")));
    types.add(new Type("a_days", "date[]", array(r -> pick(r, "infinity", "5874897-12-31"))));
    types.add(
        new Type("a_bounds", "int4[]", r -> pick(r, "[2:4]={1,2,3}", "{{1,2},{3,NULL}}", "{}")));
    types.add(new Type("a_inf", "numeric(5,2)", r -> pick(r, "NaN", "1.50")));
    return types;
  }

  // ---- tables ----

  private void make(String table, List<Type> types) {
    session.execute(
        "create table "
            + table
            + " (id int8 primary key, "
            + types.stream()
                .map(type -> type.name() + " " + type.sql())
                .collect(Collectors.joining(", "))
            + ")");
  }

  private void fill(String table, List<Type> types, SplittableRandom random) {
    for (int from = 0; from < ROWS; from += ROWS_OF_INSERT) {
      List<String> rows = new ArrayList<>();
      for (int id = from; id < Math.min(ROWS, from + ROWS_OF_INSERT); id++) {
        StringBuilder row = new StringBuilder("(").append(id);
        for (Type type : types) {
          String value =
              random.nextInt(8) == 0
                  ? "null"
                  : "'" + type.value().apply(random).replace("'", "''") + "'";
          row.append(", ").append(value);
        }
        rows.add(row.append(")").toString());
      }
      session.execute("insert into " + table + " values " + String.join(", ", rows));
    }
  }

  /// Runs a statement whose rows do not matter.
  private void run(String sql) {
    try (PreparedStatement statement = session.prepare(sql);
        Rows rows = session.query(statement)) {
      while (rows.next()) {}
    }
  }

  private List<String> query(String sql) {
    List<String> lines = new ArrayList<>();
    try (PreparedStatement statement = session.prepare(sql);
        Rows rows = session.query(statement)) {
      while (rows.next()) {
        lines.add(rows.isNull(0) ? "NULL" : rows.getString(0));
      }
    }
    return lines;
  }

  private List<String> rows(String table, List<Type> types) {
    return query(
        "select id::text || "
            + types.stream()
                .map(type ->
                    "' %1$s=' || case when %1$s is null then 'NULL' else '<' || %1$s::text || '>' end"
                        .formatted(type.name()))
                .collect(Collectors.joining(" || "))
            + " from "
            + table
            + " order by id");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "x.csv | format csv, header",
        "x.csv.gz | format csv",
        "x.csv | format csv, null 'NIL', delimiter ';', quote '''', escape '\\', force_quote *",
        "x.txt | format text",
        "x.txt.zst | header",
        "x.parquet | format parquet",
        "x.parquet | format parquet, codec snappy, row_group_rows 1024",
        "x.arrow | format arrow",
        "x.arrow | format arrow, codec lz4",
        "x.arrows | format arrow_stream",
      })
  void shouldLoadWhatItHasDumped(String file, String options) {
    List<Type> types = types();
    run("copy t to 'out:%s' (%s)".formatted(file, options));
    make("u", types);
    load("u", file, options);
    assertEquals(rows("t", types), rows("u", types));
  }

  private void load(String table, String file, String options) {
    String own =
        List.of(options.split(", ")).stream()
            .filter(option ->
                !option.startsWith("codec")
                    && !option.startsWith("row_group")
                    && !option.startsWith("infinity")
                    && !option.startsWith("force_quote"))
            .collect(Collectors.joining(", "));
    run("copy %s from 'out:%s' (%s)".formatted(table, file, own));
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "x.csv | format csv",
        "x.txt | format text",
        "x.parquet | format parquet",
        "x.arrow | format arrow",
      })
  void shouldDumpExtremesExactlyOrRefuseThem(String file, String options) {
    List<Type> types = extremes();
    int refused = 0;
    for (Type type : types) {
      String one = file + "." + type.name();
      make("u_" + type.name(), List.of(type));
      try {
        run("copy e (id, %s) to 'out:%s' (%s)".formatted(type.name(), one, options));
      } catch (EndpointException e) {
        refused++;
        assertTrue(
            Set.of("0A000", "22003", "22008").contains(e.sqlstate()),
            () -> type.name() + ": " + e.sqlstate() + " " + e.getMessage());
        continue;
      }
      load("u_" + type.name(), one, options);
      assertEquals(rows("e", List.of(type)), rows("u_" + type.name(), List.of(type)));
    }
    boolean lines = !options.toLowerCase(Locale.ROOT).matches(".*(parquet|arrow).*");
    assertEquals(lines, refused == 0, "refused: " + refused);
  }

  @Test
  void shouldDumpTheSameRowsIntoManyFiles() {
    List<Type> types = types();
    run(
        "copy t to 'out:many/' (format csv, partition_by (a_bool), order_by (id desc), file_size '16kB')");
    make("u", types);
    run("copy u from 'out:many/*/*.csv' (format csv)");
    assertEquals(rows("t", types), rows("u", types));
    assertEquals(3, query("select distinct a_bool::text from u").size());
  }

  private List<String> names() throws IOException {
    try (Stream<Path> files = Files.walk(directory.resolve("out"))) {
      return files.filter(Files::isRegularFile).map(Path::toString).sorted().toList();
    }
  }

  @Test
  void shouldLeaveNoFileBehindAfterAnError() throws IOException {
    session.execute("create table n (a int8, b text)");
    session.execute("insert into n select i, 'row ' || i from generate_series(1, 20000) i");
    for (String format : List.of("csv", "parquet", "arrow")) {
      for (String place : List.of("x." + format, format + "/")) {
        EndpointException refused =
            assertThrows(
                EndpointException.class,
                () ->
                    run(
                        "copy (select b, 1 / (a - 19999) from n) to 'out:%s' (format %s)"
                            .formatted(place, format)));
        assertEquals("22012", refused.sqlstate());
      }
    }
    assertEquals(List.of(), names());
  }

  @ParameterizedTest
  @ValueSource(strings = {"csv", "parquet", "arrow", "arrow_stream"})
  void shouldGiveTheClientTheBytesOfTheFile(String format) throws IOException {
    session.execute("create table n (a int8, b text)");
    session.execute("insert into n select i, 'row ' || i from generate_series(1, 50000) i");
    String query = "(select * from n order by a) to %s (format " + format + ")";
    String digest;
    try (PreparedStatement statement = session.prepare("copy " + query.formatted("'out:x'"));
        Rows rows = session.query(statement)) {
      assertTrue(rows.next());
      assertEquals("out:x", rows.getString(0));
      assertEquals(50_000, rows.getLong(1));
      assertEquals(Files.size(directory.resolve("out/x")), rows.getLong(2));
      digest = rows.getString(3);
    }
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    try (PreparedStatement statement = session.prepare("copy " + query.formatted("stdout"));
        Rows rows = session.query(statement)) {
      while (rows.next()) {
        bytes.write(rows.getBytes(0));
      }
    }
    assertArrayEquals(Files.readAllBytes(directory.resolve("out/x")), bytes.toByteArray());
    assertEquals(digest, sha256(bytes.toByteArray()));
  }

  private static String sha256(byte[] bytes) {
    try {
      return HexFormat.of().formatHex(MessageDigest.getInstance("SHA-256").digest(bytes));
    } catch (NoSuchAlgorithmException e) {
      throw new AssertionError(e);
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"parquet", "arrow"})
  void shouldProposeStatementsThatLoadTheFile(String format) {
    List<Type> types = types();
    run("copy t to 'out:x' (format " + format + ")");
    String inspected =
        "select value from kakehashi_inspect('out:x', 'format %s') where kind = '%s'";
    session.execute(query(inspected.formatted(format, "create table")).getFirst());
    run(query(inspected.formatted(format, "copy")).getFirst());
    assertEquals(rows("t", types), rows("loaded", types));
  }

  @Test
  void shouldLoadAnUploadAndRefuseAnothersOffset() {
    session.execute("create table n (a int8, b text)");
    String id = query("select kakehashi_upload_begin()").getFirst();
    run("select kakehashi_upload_append('%s', 0, '1,x\n2,'::bytea)".formatted(id));
    EndpointException refused =
        assertThrows(
            EndpointException.class,
            () -> run("select kakehashi_upload_append('%s', 3, 'zzz'::bytea)".formatted(id)));
    assertEquals("22023", refused.sqlstate());
    run("select kakehashi_upload_append('%s', 6, 'y\n'::bytea)".formatted(id));
    assertEquals(List.of("8"), query("select kakehashi_upload_length('%s')::text".formatted(id)));
    run("copy n from 'upload:%s' (format csv)".formatted(id));
    assertEquals(List.of("1x", "2y"), query("select a || b from n order by a"));
  }
}
