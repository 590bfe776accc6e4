package dev.kakehashi.pgtests.batch;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.kakehashi.pgtests.harness.EndpointProcess;
import dev.kakehashi.pgtests.harness.Installation;
import dev.kakehashi.pgtests.harness.OsProcess;
import dev.kakehashi.pgtests.harness.Workspace;
import dev.kakehashi.testsupport.FreePorts;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;

/// A batch of dump, job of Spark and load has its effect once, wherever one of its processes is killed.
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class SparkBatchTest {
  private static final String PASSWORD = "batch";
  private static final String TYPED =
      "id int8 PRIMARY KEY, b bool, i2 int2, i4 int4, i8 int8, f4 float4, f8 float8,"
          + " n numeric(38, 10), free numeric, t text, v varchar(20), c char(5), by bytea, d date, ts timestamp, tz timestamptz,"
          + " ti time, u uuid, j jsonb, iv interval, ia int4[], ta text[]";

  /// Extremes, and the days on which calendars and zones changed.
  private static final List<String> VALUES =
      List.of(
          "1, true, -32768, -2147483648, -9223372036854775808, 'NaN', '-Infinity', 9999999999999999999999999999.9999999999,"
              + " 1.50, E'a''\"\\n\\u00e9\\U0001F600', 'x', 'ab', '\\x00ff', '0001-01-01', '0001-01-01 00:00:00.000001',"
              + " '1500-02-28 12:00:00.123456Z', '23:59:59.999999', '12345678-1234-1234-1234-123456789abc', '{\"a\": [1, null]}',"
              + " '1 mon 2 days 3.000001 sec', '{1,NULL,2}', '{a,NULL,\"\"}'",
          "2" + ", NULL".repeat(21),
          "3, false, 32767, 2147483647, 9223372036854775807, 3.4028235e38, 5e-324, -0.0000000001,"
              + " 123456789012345678901234567890123456789012.5, '', '', '', '', '9999-12-31', '9999-12-31 23:59:59.999999',"
              + " '1582-10-10 00:00Z', '00:00', '00000000-0000-0000-0000-000000000000', 'null', '-1 year', '{}', '{}'",
          "4, false, 0, 0, 0, '-0', '-0', 0, 'NaN', 'x', 'x', 'x', 'x', '1582-10-05', '1900-01-01 00:00', '1883-11-18 17:00Z',"
              + " '12:00', '00000000-0000-0000-0000-000000000001', '1.10', '0', '{7}', '{\"{}\"}'");

  private final Workspace workspace = Workspace.create("batch");
  private final Path files = workspace.newDiskDirectory("files");
  private final Path own = workspace.newDiskDirectory("own");
  private final Path definition = workspace.newDiskDirectory("definition");
  private final HttpClient client = HttpClient.newHttpClient();
  private final int port = FreePorts.next();
  private final EndpointProcess endpoint =
      EndpointProcess.start(
          workspace.memory().resolve("run"),
          workspace.disk(),
          "http_port=" + port,
          "bulk_locations=files:" + files + ":readwrite");
  private final Map<String, String> environment =
      Map.of(
          "KAKEHASHI_URL",
          "http://127.0.0.1:" + port,
          "KAKEHASHI_USER",
          "batcher",
          "KAKEHASHI_PASSWORD",
          PASSWORD,
          "BATCH_LOCATION",
          "files",
          "BATCH_FILES",
          files.toString());

  /// Runs a statement.
  ///
  /// @return its rows as CSV without a header
  private String sql(String text) throws IOException, InterruptedException {
    String login = Installation.serverUser() + ":" + PASSWORD;
    HttpRequest request =
        HttpRequest.newBuilder(URI.create(environment.get("KAKEHASHI_URL") + "/v1/sql"))
            .header("Content-Type", "application/sql")
            .header("Accept", "text/csv;header=absent")
            .header(
                "Authorization",
                "Basic "
                    + Base64.getEncoder().encodeToString(login.getBytes(StandardCharsets.UTF_8)))
            .POST(HttpRequest.BodyPublishers.ofString(text))
            .build();
    HttpResponse<String> response = client.send(request, HttpResponse.BodyHandlers.ofString());
    assertEquals(200, response.statusCode(), () -> text + ": " + response.body());
    return response.body().strip();
  }

  @BeforeAll
  void makeTables() throws IOException, InterruptedException {
    endpoint.command(PASSWORD + "\n", "user", "add", Installation.serverUser());
    Path revenue = BatchProcess.example().resolve("revenue");
    copy(revenue, definition);
    for (String statement : Files.readAllLines(revenue.resolve("tables.sql"))) {
      sql(statement);
    }
    sql("CREATE SCHEMA tpch");
    sql("CREATE TABLE tpch.customer (c_custkey int8 PRIMARY KEY, c_mktsegment char(10) NOT NULL)");
    sql(
        "CREATE TABLE tpch.orders (o_orderkey int8 PRIMARY KEY, o_custkey int8 NOT NULL, o_orderstatus char(1) NOT NULL,"
            + " o_totalprice numeric(15, 2) NOT NULL, o_orderdate date NOT NULL)");
    sql("INSERT INTO tpch.customer SELECT i, 'SEGMENT ' || i % 5 FROM generate_series(1, 500) i");
    sql(
        "INSERT INTO tpch.orders SELECT i, 1 + i * 7 % 500, CASE WHEN i % 9 = 0 THEN 'P' ELSE 'O' END, i * 37 % 100003 / 100.0,"
            + " date '1992-01-01' + (i % 800)::int4 FROM generate_series(1, 20000) i");
    sql("CREATE TABLE typed (" + TYPED + ")");
    sql("CREATE TABLE typed_back (" + TYPED + ")");
    for (String values : VALUES) {
      sql("INSERT INTO typed VALUES (" + values + ")");
    }
    sql("CREATE ROLE batcher LOGIN PASSWORD '" + PASSWORD + "'");
    sql("GRANT USAGE ON SCHEMA tpch TO batcher");
    sql("GRANT SELECT ON tpch.orders, tpch.customer, typed TO batcher");
    sql("GRANT SELECT, INSERT, DELETE ON batch_run, monthly_revenue, typed_back TO batcher");
    sql("GRANT READ, WRITE ON LOCATION files TO batcher");
    Files.writeString(
        definition.resolve("dump/typed.sql"),
        "-- options: {\"text_columns\": [\"ti\", \"u\", \"iv\"]}\nSELECT * FROM typed\n");
    Files.writeString(definition.resolve("spark/typed_back.sql"), "SELECT * FROM typed\n");
  }

  @AfterAll
  void stop() {
    endpoint.close();
    workspace.close();
  }

  private static void copy(Path from, Path to) throws IOException {
    try (Stream<Path> all = Files.walk(from)) {
      for (Path each : all.filter(Files::isRegularFile).toList()) {
        Path copied = to.resolve(from.relativize(each));
        Files.createDirectories(copied.getParent());
        Files.copy(each, copied);
      }
    }
  }

  private BatchProcess batch(String run) throws IOException {
    return BatchProcess.start(environment, definition.toString(), run, own.toString());
  }

  private void killEndpoint() {
    endpoint.kill();
    endpoint.start();
  }

  /// Rows of one that are not in the other, both ways.
  private String differences(String one, String other) throws IOException, InterruptedException {
    return sql(
        "SELECT (SELECT count(*) FROM (%1$s EXCEPT ALL %2$s) a), (SELECT count(*) FROM (%2$s EXCEPT ALL %1$s) b)"
            .formatted(one, other));
  }

  @Test
  void shouldTakeEffectOnceWhoeverIsKilled() throws IOException, InterruptedException {
    sql(
        "CREATE TABLE expected AS WITH c AS (SELECT date_trunc('month', o_orderdate)::date AS month, rtrim(c_mktsegment) AS s,"
            + " c_custkey AS c, count(*) AS n, sum(o_totalprice) AS r FROM tpch.orders JOIN tpch.customer ON o_custkey = c_custkey"
            + " WHERE o_orderstatus <> 'P' GROUP BY 1, 2, 3), o AS (SELECT *, row_number() OVER (PARTITION BY month, s"
            + " ORDER BY r DESC, c) AS p FROM c) SELECT month, s, sum(n)::int8 AS n, sum(r)::numeric(20,2) AS r,"
            + " max(c) FILTER (WHERE p = 1) AS c, (max(r) FILTER (WHERE p = 1))::numeric(20,2) AS m FROM o GROUP BY month, s");
    try (BatchProcess batch = batch("run-1")) {
      batch.await("batch: job ");
      killEndpoint();
      batch.await("batch: dumped ");
      sql("INSERT INTO tpch.orders VALUES (0, 1, 'O', 1000000, '1992-01-01')");
      long spark = Long.parseLong(batch.await("batch: spark is process "));
      batch.await("spark: begun");
      OsProcess.signal("KILL", spark);
      batch.await("batch: begins the step anew: spark ended with ");
      batch.await("batch: computed result-2");
      batch.await("batch: job ");
      killEndpoint();
      batch.await("batch: commits");
      batch.kill();
    }
    assertLoadedBy("run-1");
    // Started again after it was done.
    assertLoadedBy("run-1");
    assertEquals("0,0", differences("TABLE monthly_revenue", "TABLE expected"));
    assertEquals("0,0", differences("TABLE typed_back", "TABLE typed"));
    assertEquals(
        "run-1,t",
        sql(
            "SELECT run, row_count = (SELECT count(*) FROM monthly_revenue) + (SELECT count(*) FROM typed_back) FROM batch_run"));
    assertEquals(
        "0", sql("SELECT count(*) FROM kakehashi_catalog.transactions WHERE label LIKE 'batch%'"));

    // A result of an earlier snapshot does not replace one of a later snapshot.
    Path state = own.resolve("run-1.state");
    Files.writeString(
        own.resolve("run-0.state"),
        Files.readString(state)
            .replaceAll("(?m)^(loaded|load\\.transaction)=.*\n", "")
            .replaceAll("(?m)^snapshot=.*$", "snapshot=2000-01-01T00:00:00Z"));
    try (BatchProcess late = batch("run-0")) {
      assertEquals(1, late.end());
      assertTrue(late.lines().getLast().contains("later snapshot"), () -> late.lines().toString());
    }
    assertEquals("1", sql("SELECT count(*) FROM batch_run"));
  }

  private void assertLoadedBy(String run) throws IOException {
    try (BatchProcess again = batch(run)) {
      assertEquals(0, again.end(), () -> again.lines().toString());
      assertTrue(
          again.lines().getLast().startsWith("batch: loaded "), () -> again.lines().toString());
    }
  }
}
