package dev.kakehashi.pgtests.bulk;

import static org.junit.jupiter.api.Assertions.assertAll;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.kakehashi.pgtests.harness.Cluster;
import dev.kakehashi.pgtests.harness.HttpClientCommand;
import dev.kakehashi.pgtests.harness.JavaSession;
import dev.kakehashi.pgtests.harness.Sql;
import dev.kakehashi.pgtests.harness.Workspace;
import dev.kakehashi.testsupport.Await;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.function.Executable;

/// Files are loaded and dumped by every door alike, with the rights of their users, and whole or not at all.
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class BulkDoorsTest {
  private static final Duration LIMIT = Duration.ofSeconds(60);
  private static final int ROWS = 500;

  /// Rows of a load that something happens to.
  private static final int MANY = Integer.getInteger("kakehashi.bulkRows", 150_000);

  private final Workspace workspace = Workspace.create("doors");
  private final Path files = workspace.newDiskDirectory("files");
  private final Path socket = workspace.memory().resolve("http");
  private final Cluster cluster =
      Cluster.start(
          workspace, "bulk_locations=files:" + files + ":readwrite", "http_socket=" + socket);
  private final JavaSession java = JavaSession.open(cluster);
  private Connection connection;
  private Door.Doors doors;

  @BeforeAll
  void makeTables() throws SQLException, IOException {
    String columns =
        "id int8, name text, price numeric(12,2), at timestamptz, live bool, tags text[]";
    cluster.createTable("item", columns, "id");
    cluster.createTable("target", columns, "id");
    cluster.createTable("pair", "id int8, name text", "id");
    cluster.createTable("number", "id int8, val int4, filler text", "id");
    try (Connection first = cluster.connect()) {
      Sql.execute(
          first,
          "INSERT INTO item SELECT i, CASE WHEN i % 7 > 0 THEN E'a \"b\", c\\n' || i END, i / 7.0,"
              + " timestamptz '2024-02-29 12:00Z' + i * interval '1 hour 1 microsecond', i % 2 = 0,"
              + " CASE WHEN i % 5 > 0 THEN ARRAY[i::text, NULL, 'x,\"y'] END"
              + " FROM generate_series(1, "
              + ROWS
              + ") i");
    }
    StringBuilder many = new StringBuilder("id,val,filler\n");
    for (int i = 1; i <= MANY; i++) {
      many.append(i).append(',').append(i % 1000).append(",xxxxxxxxxxxxxxxxxxxx\n");
    }
    Files.writeString(files.resolve("many.csv"), many);
  }

  @AfterAll
  void stop() {
    java.close();
    cluster.close();
  }

  @BeforeEach
  void connect() throws SQLException {
    connection = cluster.connect();
    doors = new Door.Doors(cluster, connection, java, new HttpClientCommand(socket), files);
    Sql.execute(connection, "TRUNCATE target", "TRUNCATE number");
  }

  @AfterEach
  void disconnect() throws SQLException {
    connection.close();
  }

  /// Options of a file.
  ///
  /// @param everyProcess whether also by the command line, whose start takes longer than all else
  private record Case(String suffix, boolean everyProcess, Map<String, String> options) {
    String format() {
      return options.getOrDefault("format", "");
    }
  }

  /// One table of options for all doors.
  private static final List<Case> CASES =
      List.of(
          new Case(".csv", true, Map.of("format", "csv", "header", "true")),
          new Case(
              ".txt",
              false,
              Map.of("format", "csv", "delimiter", ";", "null", "none", "quote", "'")),
          new Case(".parquet", true, Map.of("format", "parquet")),
          new Case(".arrow", false, Map.of("format", "arrow")));

  @Test
  void shouldTakeTheSameRowsThroughEveryDoor() {
    List<Executable> checks = new ArrayList<>();
    for (Case options : CASES) {
      for (Door door : Door.values()) {
        if (door.has(options.format()) && (options.everyProcess() || door != Door.COMMAND_LINE)) {
          checks.add(() -> shouldComeBack(door, options));
        }
      }
    }
    assertAll(checks);
  }

  private void shouldComeBack(Door door, Case options) throws SQLException {
    String what = door + " " + options;
    String file = door.name().toLowerCase(Locale.ROOT) + options.suffix();
    Sql.execute(connection, "TRUNCATE target");
    assertEquals(Integer.toString(ROWS), door.dump(doors, "item", file, options.options()), what);
    assertEquals(Integer.toString(ROWS), door.load(doors, "target", file, options.options()), what);
    assertEquals(
        "0|" + ROWS,
        Sql.value(
            connection,
            "SELECT (SELECT count(*) FROM (TABLE item EXCEPT TABLE target) d), count(*) FROM target"),
        what);
  }

  @Test
  void shouldRefuseTheSameThroughEveryDoor() throws IOException {
    Files.writeString(files.resolve("bad.csv"), "1,a\nx,b\n");
    Files.createSymbolicLink(files.resolve("link.csv"), Path.of("/etc/passwd"));
    Map<String, String> csv = Map.of("format", "csv");
    Stream<Executable> checks =
        Stream.of(Door.values())
            .filter(door -> door.has("csv"))
            .flatMap(door ->
                Stream.of(
                    refused(door, "22P02", door.load(doors, "pair", "bad.csv", csv)),
                    refused(
                        door,
                        // As every query parameter that is unknown.
                        door == Door.HTTP_BODY ? "400" : "42601",
                        door.load(
                            doors, "pair", "bad.csv", Map.of("format", "csv", "headr", "true")))));
    assertAll(checks);
    // Files of the endpoint: where they are is looked at.
    assertAll(
        Stream.of(Door.FUNCTIONS, Door.JAVA, Door.HTTP)
            .flatMap(door ->
                Stream.of(
                    refused(door, "58P01", door.load(doors, "target", "nowhere.csv", csv)),
                    refused(door, "42602", door.load(doors, "target", "../secret.csv", csv)),
                    refused(door, "42602", door.load(doors, "target", "/etc/passwd", csv)),
                    refused(door, "42501", door.load(doors, "target", "link.csv", csv)),
                    refused(door, "58P02", door.dump(doors, "item", "bad.csv", csv)))));
  }

  private static Executable refused(Door door, String state, String answer) {
    return () -> assertEquals("error " + state, answer, door.toString());
  }

  /// A role that may not read the server's files by COPY may not have the engine read them, and tables are PostgreSQL's to give.
  @Test
  void shouldAskForTheRightsOfTheRole() throws SQLException, IOException {
    Files.writeString(files.resolve("pairs.csv"), "1,a\n2,b\n");
    Sql.execute(
        connection,
        "TRUNCATE pair",
        "CREATE ROLE loader",
        "GRANT USAGE ON FOREIGN SERVER kakehashi TO loader",
        "CREATE USER MAPPING FOR loader SERVER kakehashi OPTIONS (password_required 'false')");
    String load =
        "SELECT rows_loaded FROM kakehashi_load('kakehashi', 'pair', 'files:pairs.csv', '{\"format\": \"csv\"}')";
    String dump =
        "SELECT rows FROM kakehashi_dump('kakehashi', 'pair', 'files:pairs.parquet', '{\"format\": \"parquet\"}')";
    String copy = "COPY pair TO 'files:copied.parquet' (FORMAT parquet)";
    try {
      Sql.execute(connection, "GRANT SELECT, INSERT ON pair TO loader", "SET ROLE loader");
      assertDenied(load, "pg_read_server_files");
      assertDenied(dump, "pg_write_server_files");
      assertDenied(copy, "pg_write_server_files");
      Sql.execute(
          connection,
          "RESET ROLE",
          "GRANT pg_read_server_files, pg_write_server_files TO loader",
          "REVOKE SELECT, INSERT ON pair FROM loader",
          "SET ROLE loader");
      assertDenied(load, "pair");
      assertDenied(dump, "pair");
      assertDenied(copy, "pair");
      // Nor what has no foreign table, nor what a query may be.
      assertDenied(load.replace("'pair'", "'public.other'"), "other");
      assertDenied(dump.replace("'pair'", "'SELECT 1'"), "query");
      Sql.execute(
          connection, "RESET ROLE", "GRANT SELECT, INSERT ON pair TO loader", "SET ROLE loader");
      assertEquals("2", Sql.value(connection, load));
      assertEquals("2", Sql.value(connection, dump));
    } finally {
      Sql.execute(
          connection,
          "RESET ROLE",
          "DROP USER MAPPING FOR loader SERVER kakehashi",
          "REVOKE ALL ON pair FROM loader",
          "REVOKE USAGE ON FOREIGN SERVER kakehashi FROM loader",
          "DROP ROLE loader");
    }
  }

  private void assertDenied(String sql, String named) {
    SQLException failure = Sql.failure(connection, sql);
    assertEquals("42501", failure.getSQLState(), failure.getMessage());
    assertTrue(String.valueOf(failure.getMessage()).contains(named), failure.getMessage());
  }

  @Test
  void shouldBePartOfTheTransaction() throws SQLException, IOException {
    Files.writeString(files.resolve("three.csv"), "11,a\n12,b\n13,c\n");
    String load =
        "SELECT rows_loaded FROM kakehashi_load('kakehashi', 'pair', 'files:three.csv', '{\"format\": \"csv\"}')";
    String count = "SELECT count(*) FROM pair WHERE id > 10";
    Sql.execute(
        connection,
        "DELETE FROM pair WHERE id > 10",
        "BEGIN",
        "INSERT INTO pair VALUES (10, 'before')");
    Sql.execute(connection, "SAVEPOINT s", load);
    assertEquals("3", Sql.value(connection, count));
    Sql.execute(connection, "ROLLBACK TO s");
    assertEquals("0", Sql.value(connection, count));
    assertEquals("3", Sql.value(connection, load));
    // A dump has the rows that the transaction sees.
    assertEquals(
        "4",
        Sql.value(
            connection,
            "SELECT sum(rows) FROM kakehashi_dump('kakehashi', 'SELECT * FROM pair WHERE id >= 10',"
                + " 'files:seen.parquet', '{\"format\": \"parquet\"}')"));
    Sql.execute(connection, "ROLLBACK");
    assertEquals("0", Sql.value(connection, count));

    // A transaction of psql's that a Java client goes on with.
    Sql.execute(connection, "BEGIN");
    String token = Sql.value(connection, "SELECT kakehashi_transaction_token('kakehashi')");
    assertEquals("", java.run("continue " + token));
    assertEquals("3", java.run("add pair files:three.csv format csv"));
    java.run("leave");
    assertEquals("3", Sql.value(connection, count));
    Sql.execute(connection, "COMMIT");
    assertEquals("3", Sql.value(connection, count));
  }

  @Test
  void shouldRejectRowsOneByOneIfToldTo() throws SQLException, IOException {
    Files.writeString(files.resolve("some.csv"), "21,a\nx,b\n21,again\n22,d\n23,e\n");
    assertEquals(
        "5|2|2|1",
        Sql.value(
            connection,
            "SELECT rows_read, rows_loaded, rows_rejected, rows_filtered FROM kakehashi_load('kakehashi', 'pair',"
                + " 'files:some.csv', '{\"format\": \"csv\", \"on_error\": \"ignore\", \"reject_file\": \"files:rejected.csv\"}',"
                + " condition => 'id < 23')"));
    String rejected = Files.readString(files.resolve("rejected.csv"));
    assertTrue(rejected.contains("22P02") && rejected.contains("23505"), rejected);
  }

  @Test
  void shouldLeaveNothingWhenItIsCanceled() throws SQLException {
    String load =
        "SELECT * FROM kakehashi_load('kakehashi', 'number', 'files:many.csv', '{\"format\": \"csv\", \"header\": true}')";
    Sql.execute(connection, "SET statement_timeout = '40ms'");
    SQLException failure = Sql.failure(connection, load);
    assertEquals("57014", failure.getSQLState(), failure.getMessage());
    Sql.execute(connection, "RESET statement_timeout");
    failure =
        Sql.failure(connection, "COPY item TO 'files:nowhere/never.parquet' (FORMAT parquet)");
    assertEquals("58P01", failure.getSQLState(), failure.getMessage());
    assertEquals("0", Sql.value(connection, "SELECT count(*) FROM number"));
    assertEquals(Integer.toString(MANY), Sql.value(connection, load.replace("*", "rows_loaded")));
  }

  /// In one transaction nothing of it is there; in batches it goes on where it was, and every row is there once.
  @Test
  void shouldSurviveTheEndOfTheEndpoint() throws Exception {
    String load =
        "SELECT * FROM kakehashi_load('kakehashi', 'number', 'files:many.csv', '{\"format\": \"csv\", \"header\": true %s}')";
    String count = "SELECT count(*) FROM number";
    killedWhile(
        load.formatted(""),
        "SELECT count(*) FROM kakehashi_jobs('kakehashi') WHERE name LIKE 'COPY%'");
    assertEquals("0", Sql.value(connection, count));

    String inBatches = load.formatted(", \"batch_rows\": 1000, \"load_id\": \"nightly\"");
    killedWhile(inBatches, count);
    Sql.execute(connection, inBatches);
    assertEquals(
        MANY + "|" + (long) MANY * (MANY + 1) / 2,
        Sql.value(connection, "SELECT count(*), sum(id) FROM number"));
  }

  /// Kills the endpoint when a load has begun, as a query says by a number above 0.
  private void killedWhile(String load, String begun) throws Exception {
    try (Connection loading = cluster.connect()) {
      var failure = CompletableFuture.supplyAsync(() -> Sql.failure(loading, load).getSQLState());
      Await.until("beginning of the load", LIMIT, () -> isPositive(begun));
      cluster.endpoint().kill();
      assertTrue(failure.get().startsWith("08"), failure.get());
    }
    cluster.endpoint().start();
    java.run("leave"); // the session of the endpoint that is gone
  }

  private boolean isPositive(String query) {
    try {
      return !Sql.value(connection, query).equals("0");
    } catch (SQLException e) {
      throw new IllegalStateException(e);
    }
  }

  @Test
  void shouldRefuseBatchesInATransaction() throws SQLException {
    String load =
        "SELECT * FROM kakehashi_load('kakehashi', 'number', 'files:many.csv', '{\"format\": \"csv\", \"batch_rows\": 1000}')";
    Sql.execute(connection, "BEGIN");
    assertEquals("25001", Sql.failure(connection, load).getSQLState());
    Sql.execute(connection, "ROLLBACK");
    assertFalse(isPositive("SELECT count(*) FROM number"));
  }
}
