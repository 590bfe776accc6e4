package dev.kakehashi.server.http;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.kakehashi.formats.coding.Coding;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.zip.GZIPInputStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/// Statements over HTTP: what is sent, and what comes back.
@Timeout(120)
@SuppressWarnings("NullAway.Init") // set before each test
class HttpSqlTest {
  private static HttpFixture door;
  private HttpConnection alice;

  @BeforeAll
  static void start() throws IOException {
    door = HttpFixture.start("http_statement_bytes", "2kB");
  }

  @AfterAll
  static void stop() throws Exception {
    door.close();
  }

  @BeforeEach
  void connect() throws IOException {
    alice = door.alice();
  }

  @Test
  void shouldDefineChangeAndRead() throws IOException {
    assertEquals(
        "0",
        alice
            .sql("create table a (id int8 primary key, v text)")
            .expect(200)
            .header("Kakehashi-Rows"));
    HttpAnswer inserted = alice.sql("insert into a values (1, 'one'), (2, null)").expect(200);
    assertEquals("2", inserted.header("Kakehashi-Rows"));
    assertEquals("committed", inserted.header("Kakehashi-Transaction"));
    assertEquals(2, inserted.json().path("rowCount").asInt(), inserted::toString);

    HttpAnswer read = alice.sql("select id, v from a order by id").expect(200);
    assertEquals("application/json", read.header("Content-Type"));
    assertEquals("2", read.header("Kakehashi-Rows"));
    assertEquals("committed", read.header("Kakehashi-Transaction"));
    assertEquals(
        "{\"columns\":[{\"name\":\"id\",\"type\":\"bigint\"},{\"name\":\"v\",\"type\":\"text\"}],"
            + "\"rows\":[[\"1\",\"one\"],[\"2\",null]],\"rowCount\":2}",
        read.text().replaceAll("\\n", ""));
  }

  @Test
  void shouldReturnRowsOfChanges() throws IOException {
    alice
        .sql("create table r (id int8 primary key generated always as identity, v text)")
        .expect(200);
    HttpAnswer returned =
        alice.sql("insert into r (v) values ('x'), ('y') returning id, v").expect(200);
    assertEquals(List.of(List.of("1", "x"), List.of("2", "y")), returned.rows());
    assertEquals("2", returned.header("Kakehashi-Rows"));
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      value = {
        "bool | true | true",
        "bool | \"off\" | false",
        "int2 | -32768 | -32768",
        "int4 | 2147483647 | 2147483647",
        "int8 | 9223372036854775807 | \"9223372036854775807\"",
        "int8 | \"-9223372036854775808\" | \"-9223372036854775808\"",
        "float4 | 1.5 | 1.5",
        "float8 | 1e308 | 1e+308",
        "float8 | \"NaN\" | \"NaN\"",
        "float8 | \"-Infinity\" | \"-Infinity\"",
        "numeric | 12345678901234567890.123456789 | \"12345678901234567890.123456789\"",
        "numeric | \"NaN\" | \"NaN\"",
        "text | \"ü😀\\n\\\"\" | \"ü😀\\n\\\"\"",
        "varchar(3) | \"abc\" | \"abc\"",
        "uuid | \"A0EEBC99-9C0B-4EF8-BB6D-6BB9BD380A11\" | \"a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11\"",
        "bytea | \"\\\\x00ff\" | \"\\\\x00ff\"",
        "date | \"2026-11-25\" | \"2026-11-25\"",
        "date | \"infinity\" | \"infinity\"",
        "time | \"24:00:00\" | \"24:00:00\"",
        "timetz | \"12:00:00+02\" | \"12:00:00+02\"",
        "timestamp | \"2026-11-25 22:30:00.5\" | \"2026-11-25T22:30:00.5\"",
        "timestamptz | \"2026-11-25 22:30:00+00\" | \"2026-11-25T22:30:00+00:00\"",
        "interval | \"1 mon -2 days 00:00:03\" | \"1 mon -2 days +00:00:03\"",
        "jsonb | {\"b\":[1,null],\"a\":\"x\"} | {\"a\": \"x\", \"b\": [1, null]}",
        "json | \"text\" | \"text\"",
        "int4[] | [1,null,3] | [1,null,3]",
        "text[] | [[\"a\"],[\"b,\\\"\"]] | [[\"a\"],[\"b,\\\"\"]]",
        "int8[] | [] | []",
        "text | null | null",
        "int4[] | null | null"
      })
  void shouldTakeAndGiveEachTypeExactly(String type, String given, String expected)
      throws IOException {
    HttpAnswer answer =
        alice.json("{\"sql\":\"select $1::" + type + " as v\",\"parameters\":[" + given + "]}");
    String text = answer.expect(200).text();
    assertTrue(
        text.contains("[" + expected + "]]") || text.contains("[" + expected + "]\n]"), text);
  }

  @Test
  void shouldRunAStatementForEachRowOfParametersOrForNone() throws IOException {
    alice.sql("create table m (id int8 primary key, v int4)").expect(200);
    HttpAnswer answer =
        alice.json(
            "{\"sql\":\"insert into m values ($1, $2)\",\"parameterRows\":[[1,1],[\"2\",null],[3,3]]}");
    assertEquals("3", answer.expect(200).header("Kakehashi-Rows"));
    alice
        .json("{\"sql\":\"insert into m values ($1, $2)\",\"parameterRows\":[[4,4],[1,1]]}")
        .problem(422, "23505");
    assertEquals("3", alice.sql("select count(*) from m").value());
  }

  @Test
  void shouldRefuseParametersThatDoNotFit() throws IOException {
    alice.json("{\"sql\":\"select $1::int4\"}").problem(400, "42P02");
    alice.json("{\"sql\":\"select $1::int4\",\"parameters\":[1,2]}").problem(400, "42P02");
    alice.json("{\"sql\":\"select $1::int2\",\"parameters\":[32768]}").problem(422, "22003");
    alice.json("{\"sql\":\"select $1::int4\",\"parameters\":[1.5]}").problem(422, "22P02");
    alice.json("{\"sql\":\"select $1::uuid\",\"parameters\":[\"x\"]}").problem(422, "22P02");
    alice.json("{\"sql\":\"select $1::text\",\"parameters\":[{}]}").problem(400, "42804");
    alice.json("{\"sql\":\"select $1::text\",\"parameters\":[\"a\\u0000\"]}").problem(422, "22021");
    alice.json("{\"sql\":\"select 1\",\"parameters\":{}}").problem(400, "");
    alice
        .json("{\"sql\":\"select $1::int4\",\"parameters\":[1],\"parameterRows\":[[1]]}")
        .problem(400, "");
    assertEquals("1", alice.sql("select 1").value());
  }

  @Test
  void shouldAnswerInTheFormatThatIsAskedFor() throws IOException {
    String sql = "select i as id, 'a,' || i as v, null::text as n from generate_series(1, 2) i";
    HttpAnswer lines = alice.sql(sql, "Accept: application/x-ndjson").expect(200);
    assertEquals(
        """
        {"id":1,"v":"a,1","n":null}
        {"id":2,"v":"a,2","n":null}
        {"end":{"rowCount":2}}
        """,
        lines.text());
    HttpAnswer csv = alice.sql(sql, "Accept: text/csv").expect(200);
    assertEquals("id,v,n\n1,\"a,1\",\n2,\"a,2\",\n", csv.text());
    HttpAnswer headless = alice.sql(sql, "Accept: text/csv;header=absent").expect(200);
    assertEquals("1,\"a,1\",\n2,\"a,2\",\n", headless.text());
    HttpAnswer objects = alice.sql(sql, "Accept: application/json;rows=objects").expect(200);
    assertEquals("a,2", objects.json().path("rows").path(1).path("v").asText());
    HttpAnswer numbers =
        alice.sql("select 9007199254740993::int8", "Accept: application/json;numbers=json");
    assertTrue(numbers.text().contains("[9007199254740993]"), numbers::toString);
    HttpAnswer arrow = alice.sql(sql, "Accept: application/vnd.apache.arrow.stream").expect(200);
    assertEquals("application/vnd.apache.arrow.stream", arrow.header("Content-Type"));
    // A stream begins with a message, and ends with the marker of its end.
    byte[] body = arrow.body();
    assertEquals(-1, java.nio.ByteBuffer.wrap(body).getInt());
    assertArrayEquals(
        new byte[] {-1, -1, -1, -1, 0, 0, 0, 0},
        java.util.Arrays.copyOfRange(body, body.length - 8, body.length));
    assertEquals("Accept, Accept-Encoding", arrow.header("Vary"));
  }

  @Test
  void shouldChooseAFormatByQuality() throws IOException {
    assertEquals(
        "text/csv",
        alice
            .sql("select 1", "Accept: application/json;q=0.1, text/*;q=0.9, image/png")
            .expect(200)
            .header("Content-Type")
            .split(";", 2)[0]);
    alice.sql("select 1", "Accept: image/png").problem(406, "");
    alice.sql("select 1", "Accept: application/json;numbers=jason").problem(400, "");
    HttpAnswer unknown = alice.sql("select 1", "Accept: text/csv;headers=absent");
    assertTrue(
        unknown.problem(400, "").path("hint").asText().contains("header"), unknown::toString);
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 50_000})
  void shouldCodeShortAndLongAnswers(int rows) throws IOException {
    String sql = "select i, repeat('x', 20) from generate_series(1, " + rows + ") i";
    byte[] plain = alice.sql(sql, "Accept: text/csv").expect(200).body();
    HttpAnswer gzip = alice.sql(sql, "Accept: text/csv", "Accept-Encoding: gzip").expect(200);
    assertEquals("gzip", gzip.header("Content-Encoding"));
    try (var in = new GZIPInputStream(new ByteArrayInputStream(gzip.body()))) {
      assertArrayEquals(plain, in.readAllBytes());
    }
    HttpAnswer zstd =
        alice.sql(sql, "Accept: text/csv", "Accept-Encoding: br, gzip;q=0.5, zstd").expect(200);
    assertEquals("zstd", zstd.header("Content-Encoding"));
    try (var in = Coding.ZSTD.decode(new ByteArrayInputStream(zstd.body()), 1 << 26)) {
      assertArrayEquals(plain, in.readAllBytes());
    }
    HttpAnswer none = alice.sql(sql, "Accept: text/csv", "Accept-Encoding: br").expect(200);
    assertEquals("", none.header("Content-Encoding"));
    assertArrayEquals(plain, none.body());
  }

  @Test
  void shouldRefuseUnknownNamesWithTheNearest() throws IOException {
    HttpAnswer member = alice.json("{\"sql\":\"select 1\",\"paramters\":[]}");
    assertTrue(member.problem(400, "").path("hint").asText().contains("\"parameters\""));
    byte[] sql = "select 1".getBytes(StandardCharsets.UTF_8);
    HttpAnswer query =
        alice.send("POST /v1/sql?timeot=5", sql, "Content-Type: application/sql").answer();
    assertTrue(query.problem(400, "").path("hint").asText().contains("\"timeout\""));
    HttpAnswer header = alice.sql("select 1", "Kakehashi-Transaction: auto;isolaton=serializable");
    assertTrue(header.problem(400, "").path("hint").asText().contains("\"isolation\""));
    HttpAnswer verb = alice.sql("select 1", "Kakehashi-Transaction: continu;handle=\"x\"");
    assertTrue(verb.problem(400, "").path("hint").asText().contains("\"continue\""));
  }

  @Test
  void shouldRefuseBodiesThatAreNoStatement() throws IOException {
    alice.json("{\"sql\":\"select 1\"").problem(400, "");
    alice.json("{\"sql\":\"select 1\",\"sql\":\"select 2\"}").problem(400, "");
    alice.json("[]").problem(400, "");
    alice.json("{}").problem(400, "");
    alice.json("{\"sql\":1}").problem(400, "");
    alice.sql("").problem(400, "");
    alice.sql("  \n").problem(400, "");
    alice.sql("select 1 -- " + "x".repeat(3000)).problem(413, "");
    alice.sql("select '\0'").problem(400, "");
    alice.json("{\"sql\":\"select '\\u0000'\"}").problem(422, "22021");
    alice
        .send("POST /v1/sql", new byte[] {'s', (byte) 0xc3, '('}, "Content-Type: application/sql")
        .answer()
        .problem(400, "");
    alice
        .send(
            "POST /v1/sql",
            "sql=select+1".getBytes(StandardCharsets.UTF_8),
            "Content-Type: application/x-www-form-urlencoded")
        .answer()
        .problem(415, "");
    assertEquals("1", alice.sql("select 1").value());
  }

  @Test
  void shouldRefuseSeveralStatementsAndRunNone() throws IOException {
    alice.sql("create table s (id int8 primary key)").expect(200);
    alice.sql("insert into s values (1); insert into s values (2)").problem(400, "42601");
    assertEquals("0", alice.sql("select count(*) from s").value());
    assertEquals("1", alice.sql("select 1;").value());
  }

  @Test
  void shouldShowTables() throws IOException {
    alice.sql("create schema shop").expect(200);
    alice
        .sql(
            "create table shop.items (id int8 primary key, name text not null, price numeric default 1)")
        .expect(200);
    HttpAnswer tables = alice.get("/v1/tables").expect(200);
    assertTrue(
        tables.rows().stream().anyMatch(row -> row.subList(0, 2).equals(List.of("shop", "items"))));
    HttpAnswer columns = alice.get("/v1/tables/shop.items").expect(200);
    assertEquals(
        List.of("id", "name", "price"), columns.rows().stream().map(List::getFirst).toList());
    alice.get("/v1/tables/shop.nothing").problem(404, "42P01");
  }

  @Test
  void shouldServeOthersWithTheSameStatementsButNobodyWithoutPassword() throws IOException {
    assertEquals("2", door.bob().sql("select 2").value());
    door.connect("").sql("select 1").problem(401, "");
    assertFalse(
        door.connect(HttpConnection.basic("alice", "wrong"))
            .sql("select 1")
            .header("WWW-Authenticate")
            .isEmpty());
    String token = alice.post("/v1/login").expect(200).json().path("token").asText();
    assertEquals("3", door.connect(HttpConnection.bearer(token)).sql("select 3").value());
  }
}
