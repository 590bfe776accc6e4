package dev.kakehashi.server.http;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.kakehashi.client.EndpointException;
import dev.kakehashi.client.PreparedStatement;
import dev.kakehashi.client.Rows;
import dev.kakehashi.client.Session;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/// The limits of an application, as its options say them, in the endpoint and in a process of its own.
@Timeout(60)
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class ApplicationLimitsTest {
  private static final String SOURCE =
      """
      package shop;
      import dev.kakehashi.application.*;
      import java.util.stream.*;
      public final class Shop implements Application {
        static volatile long sink;
        public void define(Definitions it) {
          it.rowsProcedure("numbers", Long.class, Long.class, (call, n) -> LongStream.range(0, n).boxed());
          it.procedure("text", Long.class, String.class, (call, n) -> "x".repeat(n.intValue()));
          it.procedure("sleep", Long.class, Void.class, (call, millis) -> { Thread.sleep(millis); return null; });
          it.procedure("deep", Long.class, Long.class, (call, n) -> depth(n)).processorBound();
          it.longFunction("endless", x -> { for (long i = x; ; i++) sink = i; });
          it.longFunction("plus", (long a, long b) -> a + b).immutable();
        }
        static long depth(long n) { return n == 0 ? 0 : 1 + depth(n - 1); }
      }
      """;
  private static final String OPTIONS =
      "max_rows=10&max_bytes=1000&time_limit=1s&max_calls=2&max_waiting=1&max_stack=256kB&function_time_limit=200ms";

  private final HttpFixture door;
  private final Session session;
  private final byte[] jar;

  ApplicationLimitsTest() throws IOException {
    door = HttpFixture.start();
    session = door.attach("alice");
    jar = ShopJar.of(SOURCE);
  }

  @BeforeAll
  void fill() {
    session.execute("create table one (i int8 primary key)");
    session.execute("insert into one values (1)");
  }

  @AfterEach
  void drop() {
    session.execute("drop application if exists shop");
  }

  @AfterAll
  void stop() throws IOException {
    door.close();
  }

  private static String text(Session session, String sql) {
    try (PreparedStatement statement = session.prepare(sql);
        Rows rows = session.query(statement)) {
      assertTrue(rows.next(), sql);
      return rows.getString(0);
    }
  }

  private static long run(Session session, String sql) {
    try (PreparedStatement statement = session.prepare(sql);
        Rows rows = session.query(statement)) {
      long count = 0;
      while (rows.next()) {
        count++;
      }
      return count;
    }
  }

  private String sqlstate(String sql) {
    return assertThrows(EndpointException.class, () -> run(session, sql), sql).sqlstate();
  }

  @ParameterizedTest
  @ValueSource(strings = {"none", "process"})
  void shouldKeepCallsWithinTheirLimits(String isolation) throws IOException {
    door.alice()
        .send(
            "PUT /v1/applications/shop?isolation=" + isolation + "&" + OPTIONS,
            jar,
            "Content-Type: application/java-archive")
        .answer()
        .expect(201);
    assertEquals(10, run(session, "call numbers(10)"));
    assertEquals("54000", sqlstate("call numbers(11)"));
    assertEquals(900, text(session, "call text(900)").length());
    assertEquals("54000", sqlstate("call text(1100)"));
    assertEquals("57014", sqlstate("call sleep(60000)"));
    assertEquals("54000", sqlstate("call deep(100000)"));
    assertEquals("57014", sqlstate("select endless(i) from one"));
    assertEquals(List.of("53300", "57014", "57014", "57014"), fourCallsAtOnce());
    // Others from the commit on.
    session.execute(
        "alter application shop set (max_rows = 11, max_bytes = '2kB', max_stack = '64MB', max_waiting = 2)");
    assertEquals(11, run(session, "call numbers(11)"));
    assertEquals(1100, text(session, "call text(1100)").length());
    assertEquals(1, run(session, "call deep(100000)"));
    assertEquals(List.of("57014", "57014", "57014", "57014"), fourCallsAtOnce());
    assertEquals("3", text(session, "select plus(i, 2)::text from one"));
  }

  /// Calls that take longer than they may, and begin together.
  ///
  /// @return their SQLSTATEs, sorted
  private List<String> fourCallsAtOnce() {
    List<CompletableFuture<String>> calls = new ArrayList<>();
    CountDownLatch attached = new CountDownLatch(4);
    for (int i = 0; i < 4; i++) {
      calls.add(
          CompletableFuture.supplyAsync(
              () -> {
                try (Session own = door.endpoint().attach("alice")) {
                  attached.countDown();
                  attached.await();
                  return String.valueOf(run(own, "call sleep(60000)"));
                } catch (EndpointException e) {
                  return e.sqlstate();
                } catch (InterruptedException e) {
                  throw new AssertionError(e);
                }
              },
              task -> Thread.ofPlatform().start(task)));
    }
    return calls.stream().map(CompletableFuture::join).sorted().toList();
  }
}
