package dev.kakehashi.server;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.kakehashi.client.AttachOptions;
import dev.kakehashi.client.EndpointException;
import dev.kakehashi.client.PreparedStatement;
import dev.kakehashi.client.Rows;
import dev.kakehashi.client.Session;
import dev.kakehashi.testsupport.Await;
import java.io.IOException;
import java.math.BigDecimal;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.io.TempDir;

/// Functions and procedures of a jar, from the client to the users' code and its tables.
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class ApplicationSqlTest {
  private static final int DEPLOYMENTS = Integer.getInteger("kakehashi.applications.versions", 5);
  private static final int ROWS = 3_000;

  private static final String SOURCE =
      """
      package shop;
      import dev.kakehashi.application.*;
      import java.math.BigDecimal;
      import java.util.*;
      import java.util.stream.*;
      public final class Shop implements Application {
        public record Order(long id, String customer, BigDecimal total) {}
        public record Placed(long id, BigDecimal gross) {}
        public record Range(int from, int to) {}
        public record Line(int nr, String text) {}
        public record Sum(BigDecimal of, long count) {}
        @Override public void define(Definitions it) {
          it.longFunction("version", x -> VERSION).immutable();
          it.longFunction("plus", (long a, long b) -> Math.addExact(a, b)).immutable();
          it.function("vat", BigDecimal.class, BigDecimal.class, v -> v.multiply(new BigDecimal("1.2"))).immutable().strict();
          it.function("total", int[].class, Long.class, all -> IntStream.of(all).asLongStream().sum());
          it.function("greet", String.class, String.class, s -> s == null ? "nobody" : "hello " + s).stable();
          it.tableFunction("lines", Range.class, Line.class,
              r -> IntStream.range(r.from(), r.to()).mapToObj(i -> new Line(i, "line " + i)).toList()).rows(10);
          it.aggregate("longest", String.class, String.class, new Aggregate<String, String[], String>() {
            public String[] begin() { return new String[] {""}; }
            public String[] add(String[] s, String a) { if (a != null && a.length() > s[0].length()) s[0] = a; return s; }
            public String[] merge(String[] a, String[] b) { return a[0].length() >= b[0].length() ? a : b; }
            public String result(String[] s) { return s[0]; }
          }).immutable();
          it.procedure("place", Order.class, Placed.class, (call, order) -> {
            TypedTable<Order> orders = call.table("orders", Order.class);
            orders.insert(order);
            if (order.total().signum() < 0) throw new ApplicationException("SH001", "no gifts");
            return new Placed(order.id(), order.total().multiply(new BigDecimal("1.2")));
          });
          it.procedure("place_alone", Order.class, Void.class, (call, order) -> {
            call.table("orders", Order.class).insert(order);
            return null;
          }).transaction(TransactionMode.OWN);
          it.rowsProcedure("count_to", Range.class, Line.class,
              (call, r) -> IntStream.range(r.from(), r.to()).mapToObj(i -> new Line(i, "n" + i)));
        }
      }
      """;

  @TempDir static Path directory;
  private EndpointServer server;
  private Session session;

  @BeforeAll
  void open() throws IOException {
    Settings settings =
        Settings.defaults()
            .set("data_directory", directory.resolve("data").toString())
            .set("runtime_directory", directory.resolve("run").toString())
            .set("memory", "64MB");
    server = EndpointServer.start(settings, new EmbeddedEngineFactory());
    session = attach();
    session.execute("create table orders (id bigint primary key, customer text, total numeric)");
    session.execute("create application shop from " + jar(1));
    session.execute("create table numbers as select i from generate_series(1, " + ROWS + ") g(i)");
  }

  @AfterAll
  void close() {
    session.close();
    server.close();
  }

  private static Session attach() {
    return Session.attach(AttachOptions.of(directory.resolve("run")));
  }

  /// A jar of the source as a literal.
  private static String jar(int version) throws IOException {
    return TestJar.literal(
        directory.resolve("jar" + version), SOURCE.replace("VERSION", version + "L"));
  }

  private List<String> query(String sql) {
    return query(session, sql);
  }

  private static List<String> query(Session session, String sql) {
    List<String> lines = new ArrayList<>();
    try (PreparedStatement statement = session.prepare(sql);
        Rows rows = session.query(statement)) {
      while (rows.next()) {
        lines.add(rows.isNull(0) ? "NULL" : rows.getString(0));
      }
    }
    return lines;
  }

  private String one(String sql) {
    List<String> rows = query(sql);
    assertEquals(1, rows.size(), sql);
    return rows.getFirst();
  }

  private String sqlstate(String sql) {
    return assertThrows(EndpointException.class, () -> query(sql)).sqlstate();
  }

  @Test
  void shouldCallFunctionsOfAJar() {
    assertEquals("12.00", one("select vat(10.0)::text"));
    assertEquals("hello you nobody", one("select greet('you') || ' ' || greet(null)"));
    assertEquals(
        one("select sum(i + i)::text from numbers"),
        one("select sum(plus(i, i))::text from numbers"));
    // ArithmeticException is no error of the engine.
    assertEquals("P0001", sqlstate("select plus(9223372036854775807, i) from numbers"));
  }

  @Test
  void shouldCallTableFunctionsAndAggregatesOfAJar() {
    assertEquals(
        List.of("3line 3", "4line 4"), query("select nr || text from lines(3, 5) order by 1"));
    assertEquals("line 10", one("select longest(text) from lines(0, 11)"));
    assertEquals(
        List.of("0 line 1000", "1 line 1001"),
        query(
            "select nr % 2 || ' ' || longest(text order by nr) from lines(0, 1002) group by nr % 2 order by 1"));
  }

  @Test
  void shouldCallProceduresThatUseTables() {
    assertEquals("12.00", gross(1, "10.0"));
    assertEquals("1", one("select count(*)::text from orders where id = 1"));
    assertEquals("SH001", sqlstate("call place(2, 'a', -1)"));
    assertEquals("0", one("select count(*)::text from orders where id = 2"));
    assertEquals("23505", sqlstate("call place(1, 'a', 1)"));
    session.execute("call place_alone(3, 'c', 1)");
    assertEquals("c", one("select customer from orders where id = 3"));
    try (PreparedStatement statement = session.prepare("call count_to(0, 5000)");
        Rows rows = session.query(statement)) {
      int count = 0;
      while (rows.next()) {
        assertEquals("n" + count++, rows.getString(1));
      }
      assertEquals(5_000, count);
    }
  }

  private String gross(long id, String total) {
    try (PreparedStatement statement = session.prepare("call place($1, $2, $3)");
        Rows rows =
            session.query(
                statement, statement.parameters().addRow(id, "x", new BigDecimal(total)))) {
      assertTrue(rows.next());
      return rows.getBigDecimal(1).toPlainString();
    }
  }

  @Test
  void shouldReplaceVersionsUnderLoad() throws IOException {
    AtomicBoolean over = new AtomicBoolean();
    List<CompletableFuture<Long>> clients = new ArrayList<>();
    for (int client = 0; client < 2; client++) {
      long base = 1_000_000L * (client + 1);
      clients.add(
          CompletableFuture.supplyAsync(() -> {
            long calls = 0;
            long last = 0;
            try (Session own = attach()) {
              while (!over.get()) {
                List<String> versions = query(own, "select distinct version(i)::text from numbers");
                assertEquals(1, versions.size(), versions.toString());
                long now = Long.parseLong(versions.getFirst());
                assertTrue(now >= last, now + " after " + last);
                last = now;
                own.execute("call place_alone(" + (base + calls++) + ", 'load', 1)");
              }
            }
            return calls;
          }));
    }
    for (int version = 2; version <= DEPLOYMENTS; version++) {
      session.execute("alter application shop from " + jar(version));
      assertEquals(Integer.toString(version), one("select version(1)::text"));
    }
    over.set(true);
    long calls = clients.stream().mapToLong(CompletableFuture::join).sum();
    assertEquals(
        Long.toString(calls), one("select count(*)::text from orders where customer = 'load'"));
  }

  @Test
  void shouldShowTheCallWhoseArgumentIsNull() {
    EndpointException e =
        assertThrows(
            EndpointException.class,
            () -> query("select total(array[i, nullif(i, 3)])::text from numbers"));
    assertEquals("22004", e.sqlstate());
    assertTrue(e.toString().contains("function total"), e.toString());
    assertTrue(e.toString().contains("([3, null])"), e.toString());
  }

  /// Each time in the system tables is one of this test.
  @Test
  void shouldShowTimesOfToday() {
    session.execute("create queue clocks");
    query("select enqueue('clocks', '1')::text");
    session.execute("analyze orders");
    assertEquals("P0001", sqlstate("select plus(9223372036854775807, 1)"));
    List<String> columns =
        query(
            "select table_name || ' ' || column_name from information_schema.columns"
                + " where table_schema = 'kakehashi_catalog' and data_type = 'timestamp with time zone'");
    assertTrue(columns.size() > 10, columns.toString());
    for (String each : columns) {
      int blank = each.indexOf(' ');
      String table = "kakehashi_catalog." + each.substring(0, blank);
      String column = each.substring(blank + 1);
      assertEquals(
          "0",
          one(
              "select count(*)::text from "
                  + table
                  + " where "
                  + column
                  + " not between now() - interval '1 hour' and now() + interval '1 day'"),
          each);
    }
    assertEquals(
        "1",
        one(
            "select count(*)::text from kakehashi_catalog.applications where application_name = 'shop'"
                + " and deployed_at > now() - interval '1 hour'"));
  }

  @Test
  void shouldFindTheQueueOfAHandlerInItsSchema() throws IOException, InterruptedException {
    String source =
        """
        package shop;
        import dev.kakehashi.application.*;
        public final class Shop implements Application {
          record Task(long id) {}
          public void define(Definitions it) {
            it.handler("jobs", Task.class, (call, task) -> call.table("own.done", Task.class).insert(task.value()));
          }
        }
        """;
    session.execute("create schema own");
    session.execute("create table own.done (id int8 primary key)");
    session.execute("create queue own.jobs");
    session.execute(
        "create application own.worker from "
            + TestJar.literal(directory.resolve("worker"), source));
    query("select enqueue('own.jobs', '{\"id\": 1}')::text");
    Await.untilEquals("rows", "1", () -> one("select count(*)::text from own.done"));
    session.execute("drop application own.worker");
  }
}
