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
import dev.kakehashi.testsupport.Await;
import java.io.IOException;
import java.time.Duration;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/// Two-phase commit through the client, with an endpoint that is killed between the phases.
@SuppressWarnings("NullAway.Init") // set before each test
class PreparedTransactionTest {
  private EndpointProcess endpoint;

  @BeforeEach
  void start() throws IOException {
    endpoint = EndpointProcess.open();
    try (Session session = endpoint.attach()) {
      session.execute("create table t (id int8 primary key, v int8)");
      session.execute("insert into t values (1, 10), (2, 20)");
    }
  }

  @AfterEach
  void stop() throws IOException {
    endpoint.close();
  }

  private static long prepareUpdate(Session session, String globalId, String sql) {
    Transaction transaction = session.begin();
    try (PreparedStatement update = session.prepare(sql)) {
      transaction.update(update);
    }
    transaction.prepare(globalId);
    assertEquals(TransactionState.PREPARED, transaction.state());
    return transaction.handle();
  }

  private static long number(Session session, String sql) {
    try (PreparedStatement query = session.prepare(sql);
        Rows rows = session.query(query)) {
      assertTrue(rows.next());
      return rows.getLong(0);
    }
  }

  @Test
  void shouldDecideBothWaysAfterAKill() throws Exception {
    long first;
    long second;
    try (Session session = endpoint.attach()) {
      first = prepareUpdate(session, "one", "update t set v = 11 where id = 1");
      second = prepareUpdate(session, "two", "update t set v = 21 where id = 2");
      endpoint.kill();
    }
    endpoint.start();
    try (Session session = endpoint.attach()) {
      assertEquals(TransactionState.PREPARED, session.outcome(first));
      assertEquals(TransactionState.PREPARED, session.outcome(second));
      assertEquals(
          2, number(session, "select count(*) from kakehashi_catalog.prepared_transactions"));
      assertEquals(30, number(session, "select sum(v)::int8 from t"));
      session.commitPrepared("one");
      session.rollbackPrepared("two");
      endpoint.kill();
    }
    endpoint.start();
    try (Session session = endpoint.attach()) {
      assertEquals(11, number(session, "select v from t where id = 1"));
      assertEquals(20, number(session, "select v from t where id = 2"));
      assertEquals(TransactionState.COMMITTED, session.outcome(first));
      assertEquals(TransactionState.ABORTED, session.outcome(second));
      EndpointException failure =
          assertThrows(EndpointException.class, () -> session.commitPrepared("one"));
      assertEquals("42704", failure.sqlstate());
    }
  }

  @Test
  void shouldOutliveItsSessionAndItsLease() throws Exception {
    long handle;
    try (Session session = endpoint.attach()) {
      Transaction transaction = prepareWithinItsLease(session);
      handle = transaction.handle();
      // The handle that is left is of an ended transaction, whatever is asked of it.
      EndpointException failure = assertThrows(EndpointException.class, transaction::savepoint);
      assertEquals("25P01", failure.sqlstate());
      transaction.rollback();
      assertEquals(TransactionState.PREPARED, transaction.state());
    }
    try (Session session = endpoint.attach()) {
      Transaction shortLived =
          session.begin(TransactionOptions.DEFAULT.withLease(Duration.ofMillis(100)));
      Await.until(
          "a later lease expires",
          () -> session.outcome(shortLived.handle()) == TransactionState.ABORTED);
      assertEquals(TransactionState.PREPARED, session.outcome(handle));
      session.commitPrepared("a");
      assertEquals(12, number(session, "select v from t where id = 1"));
    }
  }

  /// Prepares a transaction of a short lease as `a`; a busy machine gets a longer one.
  private static Transaction prepareWithinItsLease(Session session) {
    try (PreparedStatement update = session.prepare("update t set v = 12 where id = 1")) {
      for (long leaseMillis = 100; ; leaseMillis *= 4) {
        Transaction transaction =
            session.begin(TransactionOptions.DEFAULT.withLease(Duration.ofMillis(leaseMillis)));
        try {
          transaction.update(update);
          transaction.prepare("a");
          return transaction;
        } catch (EndpointException e) {
          if (!e.sqlstate().equals("25P03") || leaseMillis > 20_000) {
            throw e;
          }
        }
      }
    }
  }

  /// The statement ends the transaction of the handle; the client, which does not know, still commits it.
  @Test
  void shouldPrepareByStatement() {
    try (Session session = endpoint.attach()) {
      Transaction transaction = session.begin();
      try (PreparedStatement update = session.prepare("update t set v = 13 where id = 1");
          PreparedStatement prepare = session.prepare("prepare transaction 'by sql'")) {
        transaction.update(update);
        transaction.update(prepare);
      }
      transaction.commit();
      assertEquals(TransactionState.PREPARED, transaction.state());
      assertEquals(10, number(session, "select v from t where id = 1"));
      session.execute("commit prepared 'by sql'");
      assertEquals(13, number(session, "select v from t where id = 1"));
    }
  }
}
