package dev.kakehashi.server;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.kakehashi.client.EndpointException;
import dev.kakehashi.client.PreparedStatement;
import dev.kakehashi.client.Rows;
import dev.kakehashi.client.Session;
import dev.kakehashi.client.Transaction;
import dev.kakehashi.client.TransactionOptions;
import dev.kakehashi.protocol.messages.TransactionState;
import java.io.IOException;
import java.time.Duration;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/// Options of transactions, from the client to the engine.
@SuppressWarnings("NullAway.Init") // set before each test
class TransactionOptionsTest {
  private EndpointProcess endpoint;
  private Session session;

  @BeforeEach
  void start() throws IOException {
    endpoint = EndpointProcess.open();
    session = endpoint.attach();
    session.execute("create table t (id int8 primary key, v int8)");
    session.execute("create table u (id int8 primary key, v int8)");
    session.execute("insert into t values (1, 10), (2, 20)");
  }

  @AfterEach
  void stop() throws IOException {
    session.close();
    endpoint.close();
  }

  private long update(Transaction transaction, String sql) {
    try (PreparedStatement statement = session.prepare(sql)) {
      return transaction.update(statement);
    }
  }

  private String text(String sql) {
    try (PreparedStatement query = session.prepare(sql);
        Rows rows = session.query(query)) {
      assertTrue(rows.next());
      return rows.getString(0);
    }
  }

  private static void assertRefused(String sqlstate, Runnable action) {
    EndpointException failure = assertThrows(EndpointException.class, action::run);
    assertEquals(sqlstate, failure.sqlstate(), failure.getMessage());
  }

  @Test
  void shouldTakeEveryOptionToTheEngine() throws IOException {
    TransactionOptions options =
        TransactionOptions.writing("t")
            .withLabel("nightly")
            .withPriority(-3)
            .withReadAreas("u", "")
            .withTimeout(Duration.ofMinutes(5))
            .withLease(Duration.ofMinutes(1));
    try (Transaction transaction = session.begin(options)) {
      assertEquals(
          "LTX SERIALIZABLE -3 true",
          text(
              "select kind || ' ' || isolation || ' ' || priority || ' ' || (epoch > 0)::text"
                  + " from kakehashi_catalog.transactions where label = 'nightly'"));
      assertEquals(2, update(transaction, "update t set v = v + 1"));
      assertRefused("25000", () -> update(transaction, "update u set v = 1"));
      try (Session other = endpoint.attach()) {
        assertRefused("40001", () -> other.execute("insert into t values (3, 30)"));
        assertRefused("40001", () -> other.execute("insert into u values (3, 30)"));
      }
      transaction.commit();
    }
    assertRefused("42P01", () -> session.begin(TransactionOptions.writing("t", "nosuch")));
    assertRefused(
        "22023",
        () -> session.begin(TransactionOptions.DEFAULT.withWritePreserve("t").withPriority(1)));
    session.execute("insert into u values (3, 30)");
  }

  private Transaction timed() {
    return session.begin(TransactionOptions.DEFAULT.withTimeout(Duration.ofMillis(200)));
  }

  @Test
  void shouldAbortAtTheTimeoutAndSayWhy() {
    Transaction changing = timed();
    assertRefused(
        "25P04",
        () -> {
          while (true) {
            update(changing, "update t set v = 0");
          }
        });
    assertRefused("25P04", changing::commit);
    assertEquals("30", text("select sum(v)::text from t"));
    assertEquals(TransactionState.ABORTED, session.outcome(changing.handle()));

    Transaction reading = timed();
    try (PreparedStatement endless =
        session.prepare(
            "with recursive n(i) as (values (1::int8) union all select i + 1 from n)"
                + " select max(i) from n")) {
      assertRefused("25P04", () -> reading.query(endless).next());
    }
    reading.rollback();
  }
}
