package dev.kakehashi.server.direct;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.kakehashi.client.AttachOptions;
import dev.kakehashi.client.EndpointException;
import dev.kakehashi.client.Parameters;
import dev.kakehashi.client.PreparedStatement;
import dev.kakehashi.client.Rows;
import dev.kakehashi.client.Session;
import dev.kakehashi.client.Transaction;
import dev.kakehashi.server.EndpointProcess;
import java.io.IOException;
import java.math.BigDecimal;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.UUID;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/// Each answer that the Java client finds in the endpoint's memory is the one that a request has.
@Timeout(180)
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
@SuppressWarnings("NullAway.Init") // set before each test
class DirectReadClientTest {
  private static final String MEMORY = "kakehashi-store";
  private EndpointProcess endpoint;
  private BothWays both;

  @BeforeAll
  void start() throws IOException {
    endpoint = EndpointProcess.open();
  }

  @AfterAll
  void stop() throws IOException {
    endpoint.close();
  }

  @BeforeEach
  void attach() {
    both = new BothWays(endpoint, "");
    both.asking.execute("drop table if exists t");
  }

  @AfterEach
  void detach() {
    both.close();
  }

  private void run(String... statements) {
    for (String statement : statements) {
      both.asking.execute(statement);
    }
  }

  private static long mappings() throws IOException {
    try (var lines = Files.lines(Path.of("/proc/self/maps"))) {
      return lines.filter(line -> line.contains(MEMORY)).count();
    }
  }

  @Test
  void shouldReadARowByItsKey() {
    run("create table t (id int8 primary key, a int4)", "insert into t values (5, 50), (6, -60)");
    try (BothWays.Query query = both.query("select a, id from t where id = $1")) {
      assertEquals(List.of("|50|5"), query.rows(5L));
      assertTrue(both.read);
      assertEquals(List.of("|-60|6"), query.rows(6L));
      assertTrue(both.read);
      assertEquals(List.of(), query.rows(7L));
      assertTrue(both.read, "nothing is an answer, too");
      assertEquals(List.of(), query.rows((Object) null));
      assertTrue(both.read);
    }
    assertEquals(4, both.direct.directReads());
  }

  /// The endpoint gives tickets for ranges, too, which only the reader in C understands.
  @Test
  void shouldLeaveRangesToRequests() {
    run(
        "create table t (a int8, b int8, v int4, primary key (a, b))",
        "insert into t values (1, 1, 11), (1, 2, 12), (1, 3, 13), (2, 1, 21)");
    for (String sql :
        List.of(
            "select v from t where a = $1",
            "select v from t where a = $1 order by a, b",
            "select v from t where a = $1 order by a desc, b desc",
            "select v from t where a >= $1 order by a, b",
            "select v from t where a > $1",
            "select v from t where a <= $1 order by a desc, b desc",
            "select v from t where a = 1 and b > $1 order by a, b",
            "select v from t where a = $1 and b between 1 and 2",
            "select v from t where a = 1 and b < $1")) {
      try (BothWays.Query query = both.query(sql)) {
        assertFalse(query.rows(1L).equals(query.rows(2L)), sql);
        assertFalse(both.read, sql);
      }
    }
  }

  /// Two results of a statement are open at a time.
  @Test
  void shouldKeepRowsThatAreOpen() {
    run("create table t (id int8 primary key, a text)", "insert into t values (1, 'a'), (2, 'b')");
    try (PreparedStatement select = both.direct.prepare("select a from t where id = $1")) {
      Parameters key = select.parameters().addRow(1L);
      try (Rows first = both.direct.query(select, key)) {
        assertTrue(first.next());
        key.reset();
        try (Rows second = both.direct.query(select, key.addRow(2L))) {
          assertTrue(second.next());
          assertEquals("a", first.getString(0));
          assertEquals("b", second.getString(0));
          assertFalse(second.next());
          assertEquals(1, second.rowsAffected());
        }
        assertFalse(first.next());
        first.cancel();
      }
    }
    assertEquals(2, both.direct.directReads());
  }

  @Test
  void shouldReadAllKindsOfValues() {
    run(
        """
        create table t (id int4 primary key, b bool, i2 int2, i4 int4, i8 int8, f4 float4, f8 float8, t text, v varchar(40),
          c char(6), y bytea, n numeric, m numeric(12,3), d date, h time, s timestamp, z timestamptz, u uuid, w interval, j jsonb,
          l int4[])\
        """,
        "insert into t (id) values (0)");
    List<String> texts =
        List.of("", "a", "1234567", "12345678", "é ü 漢字", "x".repeat(300), "y".repeat(30_000));
    List<String> numbers =
        List.of(
            "0",
            "0.0",
            "-1",
            "1.50",
            "10000",
            "0.0001",
            "123456789.123",
            "-99990000",
            "1e30",
            "NaN",
            "Infinity",
            "-0.00000000000001",
            "36028797018963.967",
            "3602879701896396700.5");
    for (int id = 1; id <= 40; id++) {
      String text = texts.get(id % texts.size());
      String number = numbers.get(id % numbers.size());
      boolean isFinite = number.chars().allMatch(c -> c < 'A') && number.length() < 14;
      run(
          """
          insert into t values (%d, %s, %d, %d, %d, %s, %s, '%s', '%s', 'c%d', '\\x%s', '%s', %s, date '2026-01-01' - %d,
            time '10:00:00.5' + interval '%d minutes', timestamp '1999-12-31 23:59:59.25' + interval '%d days',
            timestamptz '2026-11-30 12:00:00+00', '%s', interval '%d months -3 days 00:00:0%d.5', '{"a": [%d, "%s"]}',
            array[%d, null, 7])\
          """
              .formatted(
                  id,
                  id % 2 == 0,
                  -id,
                  id * 1_000_000 - 20_000_000,
                  (id % 3 - 1) * Long.MAX_VALUE,
                  id * 0.37,
                  -id * 1e100,
                  text,
                  "v".repeat(id),
                  id % 10,
                  "00ff".repeat(id % 5),
                  number,
                  isFinite && id % 4 != 0 ? number + "::numeric(12,3)" : "null",
                  id * 100,
                  id,
                  id * 1000,
                  new UUID(id, -id),
                  id,
                  id % 10,
                  id,
                  text,
                  id));
    }
    run("insert into t (id, t) values (41, '%s')".formatted("z".repeat(50_000)));
    long before = both.direct.directReads();
    try (BothWays.Query query = both.query("select * from t where id = $1");
        BothWays.Query some =
            both.query("select n, $2::int4, t, m, $2::int4 from t where id = $1")) {
      for (int id = 0; id <= 40; id++) {
        assertEquals(1, query.rows(id).size());
        assertTrue(both.read, "row " + id);
        assertEquals(1, some.rows(id, id % 7).size());
        assertTrue(both.read, "row " + id);
      }
      assertEquals(1, query.rows(41).size());
      assertFalse(both.read, "a long value");
    }
    assertEquals(before + 82, both.direct.directReads());
  }

  /// Values that many rows share, numbers that need more and more bytes, and leaves enough for a tree of several levels.
  @Test
  void shouldReadLargeTables() {
    run(
        "create table t (id int8 primary key, color text not null, small int8, wide int8, note text)",
        """
        insert into t select g * 1000003::int8 % 9007199254740993, 'color number ' || g % 7, g % 5, g * 4294967296,
          case when g % 3 = 0 then null else 'a note of row ' || g end from generate_series(1, 60000) g\
        """);
    try (BothWays.Query query =
        both.query("select color, small, wide, note from t where id = $1")) {
      for (long g = 1; g <= 60_000; g += 97) {
        assertEquals(1, query.rows(g * 1_000_003 % 9_007_199_254_740_993L).size());
        assertTrue(both.read);
        assertEquals(List.of(), query.rows(g * 1_000_003 + 1));
      }
      run("update t set color = 'another color ' || small, small = small + 1000000");
      for (long g = 1; g <= 60_000; g += 997) {
        assertEquals(1, query.rows(g * 1_000_003 % 9_007_199_254_740_993L).size());
      }
    }
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "int2",
        "int4",
        "int8",
        "text",
        "text not null",
        "bytea",
        "uuid",
        "uuid not null",
        "date",
        "timestamptz"
      })
  void shouldFindKeysOfAllKinds(String type) {
    String column = type.split(" ", -1)[0];
    run("create table t (a %s, b int4 not null, k int8, unique (a, k))".formatted(type));
    run("create unique index on t (b desc, a)");
    List<Object> keys =
        switch (column) {
          case "int2" -> List.of((short) 0, (short) -1, (short) 300, Short.MIN_VALUE);
          case "int4" -> List.of(0, 255, 256, -256, -257, Integer.MAX_VALUE, Integer.MIN_VALUE);
          case "int8" -> List.of(0L, 1L << 40, -(1L << 55), Long.MAX_VALUE, Long.MIN_VALUE, -1L);
          case "text" -> List.of("", "a", "ab", "abcdefg", "abcdefgh", "é", "k".repeat(490));
          case "bytea" ->
              List.of(new byte[0], new byte[] {0}, new byte[] {0, -1}, new byte[] {0, 0, 1});
          case "uuid" -> List.of(new UUID(0, 0), new UUID(-1, -1), new UUID(5, 6));
          case "date" ->
              List.of(java.time.LocalDate.of(1970, 1, 1), java.time.LocalDate.of(2026, 12, 1));
          default ->
              List.of(java.time.Instant.EPOCH, java.time.Instant.parse("2026-12-01T02:00:00Z"));
        };
    try (PreparedStatement insert = both.asking.prepare("insert into t values ($1, $2, $3)");
        BothWays.Query ascending = both.query("select b from t where a = $1 and k = $2");
        BothWays.Query descending = both.query("select k, a from t where a = $1 and b = $2")) {
      int read = 0;
      for (int i = 0; i < keys.size(); i++) {
        both.asking.update(insert, insert.parameters().addRow(keys.get(i), i, (long) -i));
      }
      for (int i = 0; i < keys.size(); i++) {
        assertEquals(List.of("|" + i), ascending.rows(keys.get(i), (long) -i));
        read += both.read ? 1 : 0;
        assertEquals(List.of(), ascending.rows(keys.get(i), -100L));
        assertEquals(1, descending.rows(keys.get(i), i).size());
        read += both.read ? 1 : 0;
        assertEquals(List.of(), descending.rows(keys.get(i), 1000));
      }
      // The longest key is asked for.
      int longKeys = column.equals("text") ? 2 : 0;
      assertTrue(read >= 2 * keys.size() - longKeys && read > 0, read + " of " + keys.size());
    }
  }

  @Test
  void shouldLeaveTransactionsToRequests() {
    run("create table t (id int8 primary key, a int4)", "insert into t values (1, 10)");
    try (BothWays.Query query = both.query("select a from t where id = $1");
        PreparedStatement mine = both.direct.prepare("select a from t where id = $1")) {
      assertEquals(List.of("|10"), query.rows(1L));
      long before = both.direct.directReads();
      try (Transaction transaction = both.direct.begin();
          PreparedStatement update = both.direct.prepare("update t set a = $1");
          PreparedStatement insert = both.direct.prepare("insert into t values (2, 20)")) {
        transaction.update(update, update.parameters().addRow(11));
        transaction.update(insert);
        try (Rows rows = transaction.query(mine, mine.parameters().addRow(1L))) {
          assertTrue(rows.next());
          assertEquals(11, rows.getInt(0));
        }
        assertEquals(before, both.direct.directReads(), "its own changes are the endpoint's");
        assertEquals(List.of("|10"), query.rows(1L), "not committed");
        assertFalse(both.read, "a row that is being changed is asked for");
        assertEquals(List.of(), query.rows(2L));
        transaction.commit();
      }
      assertEquals(List.of("|11"), query.rows(1L));
      assertEquals(List.of("|20"), query.rows(2L));
      try (Transaction transaction = both.direct.begin();
          PreparedStatement delete = both.direct.prepare("delete from t where id = 2")) {
        transaction.update(delete);
        assertEquals(List.of("|20"), query.rows(2L));
        transaction.rollback();
      }
      assertEquals(List.of("|20"), query.rows(2L));
      run("delete from t where id = 2");
      assertEquals(List.of(), query.rows(2L));
      run("update t set id = 2");
      assertEquals(List.of(), query.rows(1L));
      assertEquals(List.of("|11"), query.rows(2L));
    }
  }

  /// Each change of definitions makes tickets void; the next one is asked for by itself.
  @Test
  void shouldFollowDefinitions() {
    run("create table t (id int8 primary key, a int4)", "insert into t values (1, 10)");
    try (BothWays.Query query = both.query("select a from t where id = $1");
        BothWays.Query whole = both.query("select * from t where id = $1")) {
      query.rows(1L);
      run("create table other (id int8 primary key)", "drop table other");
      assertEquals(List.of("|10"), query.rows(1L));
      assertTrue(both.read, "another ticket");
      run("alter table t add column b int4 default 7");
      assertEquals(List.of("|10"), query.rows(1L));
      assertEquals(List.of("0A000"), whole.rows(1L));
      assertFalse(both.read);
      try (BothWays.Query younger = both.query("select b, a from t where id = $1")) {
        assertEquals(List.of("|7|10"), younger.rows(1L));
        run("insert into t values (2, 20, 21)", "update t set b = 8 where id = 1");
        assertEquals(List.of("|8|10"), younger.rows(1L));
        assertEquals(List.of("|21|20"), younger.rows(2L));
        run("alter table t drop column b");
        assertEquals(List.of("42703"), younger.rows(1L));
      }
      assertEquals(List.of("|10"), query.rows(1L));
      run("truncate t");
      assertEquals(List.of(), query.rows(1L));
      run("insert into t values (1, 11)");
      assertEquals(List.of("|11"), query.rows(1L));
      run("alter table t drop constraint t_pkey");
      assertEquals(List.of("|11"), query.rows(1L));
      assertFalse(both.read, "there is no key");
      run("insert into t values (1, 12)");
      assertEquals(2, query.rows(1L).size());
      run("delete from t where a = 12", "alter table t add primary key (id)");
      assertEquals(List.of("|11"), query.rows(1L));
      assertTrue(both.read, "there is one again");
      run("drop table t");
      assertEquals(List.of("42P01"), query.rows(1L));
      run("create table t (id int8 primary key, a int4)", "insert into t values (1, 13)");
      assertEquals(List.of("|13"), query.rows(1L));
      assertTrue(both.read);
    }
  }

  @Test
  void shouldFollowRights() {
    run("create table t (id int8 primary key, a int4)", "insert into t values (1, 10)");
    run("create role reader login", "grant select on t to reader");
    try (BothWays reader = new BothWays(endpoint, "reader");
        BothWays.Query query = reader.query("select a from t where id = $1")) {
      assertEquals(List.of("|10"), query.rows(1L));
      assertTrue(reader.read);
      run("revoke select on t from reader");
      assertEquals(List.of("42501"), query.rows(1L));
      assertEquals(List.of("42501"), query.rows(2L), "not even that there is none");
      assertFalse(reader.read);
      run("grant select on t to reader");
      assertEquals(List.of("|10"), query.rows(1L));
      assertTrue(reader.read);
    }
    try (BothWays.Query query = both.query("select a from t where id = $1")) {
      assertEquals(List.of("|10"), query.rows(1L));
      assertTrue(both.read);
      run("revoke select on t from reader");
      for (Session session : List.of(both.direct, both.asking)) {
        session.execute("set role reader");
      }
      assertEquals(List.of("42501"), query.rows(1L));
      for (Session session : List.of(both.direct, both.asking)) {
        session.execute("reset role");
      }
      assertEquals(List.of("|10"), query.rows(1L));
      assertFalse(both.read, "the session's role may be another one");
    }
    run("drop role reader");
  }

  @Test
  void shouldNotBelieveTheMemoryOfAnEndpointThatHasEnded() {
    run("create table t (id int8 primary key, a int4)", "insert into t values (1, 10)");
    for (boolean isKilled : new boolean[] {true, false}) {
      Session session = endpoint.attach();
      try (PreparedStatement select = session.prepare("select a from t where id = $1")) {
        assertEquals(List.of("|10"), BothWays.outcome(session, select, 1L));
        assertEquals(1, session.directReads());
        if (isKilled) {
          endpoint.kill();
        } else {
          endpoint.stop();
        }
        endpoint.start();
        assertEquals(List.of("08006"), BothWays.outcome(session, select, 1L));
        assertEquals(1, session.directReads());
        assertFalse(session.isAlive());
      } finally {
        session.close();
      }
    }
    both.close();
    both = new BothWays(endpoint, "");
    try (BothWays.Query query = both.query("select a from t where id = $1")) {
      assertEquals(List.of("|10"), query.rows(1L));
      assertTrue(both.read);
    }
  }

  @Test
  void shouldMapNothingWithTheSwitchOff() throws IOException {
    run("create table t (id int8 primary key, a int4)", "insert into t values (1, 10)");
    long before = mappings();
    assertTrue(before > 0, "the other session's");
    AttachOptions options = AttachOptions.of(endpoint.runtimeDirectory());
    try (Session off = Session.attach(options.withDirectReads(false))) {
      assertEquals(before, mappings());
      try (Session on = Session.attach(options)) {
        assertEquals(before + 1, mappings());
        assertEquals(0, on.directReads());
      }
      assertEquals(before, mappings(), "given back with the session");
      try (PreparedStatement select = off.prepare("select a from t where id = $1")) {
        assertEquals(List.of("|10"), BothWays.outcome(off, select, 1L));
      }
      assertEquals(0, off.directReads());
    }
  }

  /// The endpoint shows what a session says.
  @Test
  void shouldTellTheEndpoint() {
    run("create table t (id int8 primary key, n numeric)", "insert into t values (1, 1.50)");
    both.direct.applicationName("reader of one row");
    try (BothWays.Query query = both.query("select n from t where id = $1")) {
      for (int i = 0; i < 5; i++) {
        query.rows(1L);
      }
    }
    try (PreparedStatement shown =
            both.asking.prepare(
                "select direct_reads from kakehashi_catalog.sessions where application_name = 'reader of one row'");
        Rows rows = both.asking.query(shown)) {
      assertTrue(rows.next());
      assertEquals(5, rows.getLong(0));
    }
  }

  @Test
  void shouldRefuseWhatRequestsRefuse() {
    run("create table t (id int8 primary key, n numeric)", "insert into t values (1, 1.50)");
    PreparedStatement select = both.direct.prepare("select n from t where id = $1");
    try (Rows rows = both.direct.query(select, select.parameters().addRow(1L))) {
      assertTrue(rows.next());
      assertEquals(new BigDecimal("1.50"), rows.getBigDecimal(0));
    }
    assertEquals(
        "42P02", assertThrows(EndpointException.class, () -> both.direct.query(select)).sqlstate());
    both.direct.close();
    assertEquals(
        "08006",
        assertThrows(
                EndpointException.class,
                () -> both.direct.query(select, select.parameters().addRow(1L)))
            .sqlstate());
  }
}
