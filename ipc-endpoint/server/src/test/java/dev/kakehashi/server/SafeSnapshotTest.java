package dev.kakehashi.server;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.kakehashi.client.EndpointException;
import dev.kakehashi.client.PreparedStatement;
import dev.kakehashi.client.Rows;
import dev.kakehashi.client.Session;
import dev.kakehashi.client.Transaction;
import dev.kakehashi.client.TransactionOptions;
import dev.kakehashi.protocol.messages.IsolationLevel;
import java.io.IOException;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/// Read-only serializable transactions that are deferrable: the batch of receipts, whose report waits instead of making a receipt fail.
@SuppressWarnings("NullAway.Init") // set before each test
@Timeout(60)
class SafeSnapshotTest {
  private static final TransactionOptions SERIALIZABLE =
      TransactionOptions.DEFAULT.withIsolation(IsolationLevel.SERIALIZABLE);

  private static final TransactionOptions DEFERRABLE =
      TransactionOptions.READ_ONLY.withIsolation(IsolationLevel.SERIALIZABLE).withDeferrable(true);

  private static EndpointProcess endpoint;
  private Session session;
  private Session clerk;
  private Transaction receipt;

  @BeforeAll
  static void start() throws IOException {
    endpoint = EndpointProcess.open();
  }

  @AfterAll
  static void stop() throws IOException {
    endpoint.close();
  }

  /// A receipt that has read the number of the batch, which is closed meanwhile.
  @BeforeEach
  void open() throws IOException {
    session = endpoint.attach();
    clerk = endpoint.attach();
    session.execute("drop table if exists batch");
    session.execute("drop table if exists receipts");
    session.execute("create table batch (id int8 primary key, number int8)");
    session.execute("create table receipts (id int8 primary key, batch int8)");
    session.execute("insert into batch values (1, 1)");
    receipt = clerk.begin(SERIALIZABLE);
    assertEquals(1, number(clerk, receipt, "select number from batch"));
    Transaction close = session.begin(SERIALIZABLE);
    update(session, close, "update batch set number = 2");
    close.commit();
  }

  @AfterEach
  void close() {
    session.close();
    clerk.close();
  }

  private static void update(Session session, Transaction transaction, String sql) {
    try (PreparedStatement statement = session.prepare(sql)) {
      transaction.update(statement);
    }
  }

  private static long number(Session session, Transaction transaction, String sql) {
    try (PreparedStatement query = session.prepare(sql);
        Rows rows = transaction.query(query)) {
      assertTrue(rows.next());
      return rows.getLong(0);
    }
  }

  private void awaitWaits(long count) {
    try (PreparedStatement waits =
        clerk.prepare(
            "select count(*) from kakehashi_catalog.waits w where "
                + "w.blocking_transaction_id in (select transaction_id from kakehashi_catalog.transactions)")) {
      long found = -1;
      while (found != count) {
        try (Rows rows = clerk.query(waits)) {
          assertTrue(rows.next());
          found = rows.getLong(0);
        }
      }
    }
  }

  @Test
  void shouldWaitForASnapshotThatMakesNobodyFail() {
    try (Transaction report = session.begin(DEFERRABLE);
        PreparedStatement count =
            session.prepare("select number * 100 + (select count(*) from receipts) from batch")) {
      Rows rows = report.query(count);
      awaitWaits(1);
      update(clerk, receipt, "insert into receipts values (1, 1)");
      receipt.commit();
      assertTrue(rows.next());
      assertEquals(201, rows.getLong(0));
      assertFalse(rows.next());
      rows.close();
      awaitWaits(0);

      // From now on it watches nobody, and nobody watches it.
      clerk.execute("insert into receipts values (2, 2)");
      assertEquals(201, number(session, report, "select number * 100 + 1 from batch"));
      report.commit();
    }
  }

  @Test
  void shouldNotWaitWhenItIsNotDeferrable() {
    try (Transaction report = session.begin(DEFERRABLE.withDeferrable(false))) {
      assertEquals(0, number(session, report, "select count(*) from receipts"));
      update(clerk, receipt, "insert into receipts values (1, 1)");
      EndpointException refused = assertThrows(EndpointException.class, receipt::commit);
      assertEquals("40001", refused.sqlstate());
      report.commit();
    }
  }

  @Test
  void shouldEndTheWaitWithACancelAndWithTheTransaction() {
    Transaction report = session.begin(DEFERRABLE);
    try (PreparedStatement count = session.prepare("select count(*) from receipts")) {
      Rows rows = report.query(count);
      awaitWaits(1);
      assertTrue(clerk.cancelTransaction(report.handle()));
      assertEquals("57014", assertThrows(EndpointException.class, rows::next).sqlstate());
      rows.close();
      awaitWaits(0);

      Rows again = report.query(count);
      awaitWaits(1);
      report.rollback();
      assertThrows(EndpointException.class, again::next);
      again.close();
      awaitWaits(0);
    }
    receipt.commit();
  }
}
