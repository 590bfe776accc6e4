package dev.kakehashi.server.http;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.kakehashi.client.Session;
import dev.kakehashi.testsupport.Await;
import java.io.IOException;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/// Long answers, long statements, and readers that are slow or go away.
@Timeout(120)
@SuppressWarnings("NullAway.Init") // set before all tests
class HttpStreamTest {
  private static final String MILLION =
      "select i, 'row ' || i as v from generate_series(1, 1000000) i";

  private static HttpFixture door;

  @BeforeAll
  static void start() throws IOException {
    door = HttpFixture.start("http_idle_timeout", "6s", "http_answer_memory", "8MB");
  }

  @AfterAll
  static void stop() throws Exception {
    door.close();
  }

  @Test
  void shouldStreamAMillionRows() throws IOException {
    HttpAnswer csv = door.alice().sql(MILLION, "Accept: text/csv").expect(200);
    assertEquals("chunked", csv.header("Transfer-Encoding"));
    assertEquals("committed", csv.trailer("Kakehashi-Transaction"));
    assertEquals("1000000", csv.trailer("Kakehashi-Rows"));
    String[] lines = csv.text().split("\n", -1);
    assertEquals(1_000_002, lines.length);
    for (int i = 1; i <= 1_000_000; i++) {
      assertEquals(i + ",row " + i, lines[i]);
    }
    HttpAnswer json = door.alice().sql(MILLION).expect(200);
    String end = json.text().substring(json.body().length - 60);
    assertTrue(end.contains("[1000000,\"row 1000000\"]"), end);
    assertTrue(end.strip().endsWith("\"rowCount\":1000000}"), end);
  }

  @Test
  void shouldEndAStreamInATransactionWithItsState() throws IOException {
    HttpConnection alice = door.alice();
    String handle = alice.post("/v1/transactions").expect(201).handle();
    HttpAnswer rows = alice.sql(MILLION, "Accept: text/csv", HttpConnection.in(handle)).expect(200);
    assertTrue(
        rows.trailer("Kakehashi-Transaction").startsWith("active;handle=\"" + handle + "\""),
        rows::toString);
    assertEquals("committed", alice.sql("", HttpConnection.ending(handle)).expect(204).state());
  }

  /// A client who reads nothing holds some buffers and no more: rows are made as he reads them, and others are served.
  @Test
  void shouldMakeRowsAsTheyAreRead() throws IOException {
    try (Session watcher = door.endpoint().attach("alice");
        HttpConnection slow = door.alice()) {
      slow.sendSql(
          "/* slow */ select i, repeat('x', 100) from generate_series(1, 2000000) i",
          "Accept: text/csv");
      HttpConnection.Head head = slow.head();
      assertEquals(200, head.status());
      for (int i = 0; i < 20; i++) {
        assertEquals("1", door.alice().sql("select 1").value());
      }
      assertEquals(1, HttpFixture.running(watcher, "slow"));
      HttpAnswer all = slow.body(head).expect(200);
      assertEquals("2000000", all.trailer("Kakehashi-Rows"));
    }
  }

  @Test
  void shouldRefuseLongAnswersBeyondTheRoomAndServeShortOnes() throws IOException {
    try (HttpConnection first = door.alice()) {
      int refused = 0;
      int served = 0;
      java.util.List<HttpConnection> readers = new java.util.ArrayList<>();
      for (int i = 0; i < 20; i++) {
        HttpConnection reader = door.alice();
        readers.add(reader);
        reader.sendSql(
            "select i, repeat('y', 1000) from generate_series(1, 1000000) i", "Accept: text/csv");
        HttpConnection.Head head = reader.head();
        if (head.status() == 200) {
          served++;
        } else {
          HttpAnswer answer = reader.body(head);
          answer.problem(503, "53200");
          assertEquals("1", answer.header("Retry-After"));
          refused++;
        }
      }
      assertTrue(served >= 5 && refused >= 5, served + " served, " + refused + " refused");
      assertEquals("1", first.sql("select 1").value());
      for (HttpConnection reader : readers) {
        reader.close();
      }
      // Their room comes back.
      Await.until(
          "there is room again",
          () -> {
            try (HttpConnection reader = door.alice()) {
              return reader.sql(MILLION, "Accept: text/csv").status() == 200;
            } catch (IOException e) {
              throw new java.io.UncheckedIOException(e);
            }
          });
    }
  }

  @Test
  void shouldWaitForStatementsLongerThanConnectionsMayBeIdle() throws IOException {
    HttpAnswer answer =
        door.alice().json("{\"sql\":\"" + HttpFixture.ENDLESS + "\",\"timeout\":5000}");
    answer.problem(504, "57014");
  }

  @Test
  void shouldEndAResultWhoseReaderHasGone() throws IOException {
    HttpConnection reader = door.alice();
    try (Session watcher = door.endpoint().attach("alice")) {
      reader.sendSql(
          "/* read */ select i from generate_series(1, 100000000) i", "Accept: text/csv");
      assertEquals(200, reader.head().status());
      reader.some(1000);
      assertEquals(1, HttpFixture.running(watcher, "read"));
      reader.close();
      Await.until("the result ends", () -> HttpFixture.running(watcher, "read") == 0);
    }
  }

  @Test
  void shouldEndAResultThatNobodyReadsForLong() throws IOException {
    try (Session watcher = door.endpoint().attach("alice");
        HttpConnection reader = door.alice()) {
      reader.sendSql(
          "/* stuck */ select i from generate_series(1, 100000000) i", "Accept: text/csv");
      HttpConnection.Head head = reader.head();
      assertEquals(1, HttpFixture.running(watcher, "stuck"));
      Await.until("the result ends", () -> HttpFixture.running(watcher, "stuck") == 0);
      assertFalse(reader.body(head).isWhole());
    }
  }

  @Test
  void shouldCancelTheStatementsOfClientsWhoHaveGone() throws IOException {
    try (Session watcher = door.endpoint().attach("alice")) {
      HttpConnection[] clients = new HttpConnection[8];
      for (int i = 0; i < clients.length; i++) {
        clients[i] = door.alice().sendSql("/* gone */ " + HttpFixture.ENDLESS);
      }
      Await.until("statements run", () -> HttpFixture.running(watcher, "gone") == clients.length);
      for (HttpConnection client : clients) {
        client.close();
      }
      Await.until("statements end", () -> HttpFixture.running(watcher, "gone") == 0);
    }
    assertEquals("1", door.alice().sql("select 1").value());
  }

  /// The transaction of a client who has gone stays for those who have its handle, until its lease ends.
  @Test
  void shouldKeepTheTransactionOfAClientWhoHasGone() throws IOException {
    String handle;
    try (Session watcher = door.endpoint().attach("alice")) {
      try (HttpConnection client = door.alice()) {
        client.sql("create table if not exists kept (id int8 primary key)").expect(200);
        handle = client.sql("insert into kept values (1)", HttpConnection.within("begin")).handle();
        client.sendSql("/* left */ " + HttpFixture.ENDLESS, HttpConnection.in(handle));
        Await.until("the statement runs", () -> HttpFixture.running(watcher, "left") == 1);
      }
      Await.until("the statement ends", () -> HttpFixture.running(watcher, "left") == 0);
    }
    HttpConnection other = door.alice();
    assertEquals("1", other.sql("select count(*) from kept", HttpConnection.in(handle)).value());
    assertEquals("committed", other.sql("", HttpConnection.ending(handle)).expect(204).state());
    assertEquals("1", other.sql("select count(*) from kept").value());
  }
}
