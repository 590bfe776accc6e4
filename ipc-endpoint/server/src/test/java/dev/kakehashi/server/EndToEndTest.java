package dev.kakehashi.server;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.kakehashi.client.EndpointException;
import dev.kakehashi.client.InboundBuffers;
import dev.kakehashi.client.Parameters;
import dev.kakehashi.client.PreparedStatement;
import dev.kakehashi.client.Rows;
import dev.kakehashi.client.Session;
import dev.kakehashi.client.Transaction;
import dev.kakehashi.protocol.messages.TransactionState;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;

/// Client library, transport, application and engine seam together, in one process.
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
@SuppressWarnings("NullAway.Init") // set before each test
class EndToEndTest {
  private TestEndpoint endpoint;
  private Session session;

  @BeforeAll
  void start() throws IOException {
    endpoint =
        TestEndpoint.start("slots_per_session", "40"); // more than have their memory all the time
  }

  @AfterAll
  void stop() throws IOException {
    endpoint.close();
  }

  @BeforeEach
  void attach() {
    session = endpoint.attach();
  }

  /// Whatever a test did: its end gives everything back.
  @AfterEach
  void detach() throws InterruptedException {
    session.close();
    endpoint.await(
        "resources of the session are given back",
        () -> {
          var usage = endpoint.server().transport().usage();
          return usage.mailboxes() == 0
              && usage.blocks() == 0
              && usage.watchedChannels() == 0
              && endpoint.engine().openTransactions() == 0;
        });
  }

  @Test
  void shouldAnswerPing() {
    byte[] payload = "ping".getBytes(StandardCharsets.UTF_8);
    for (int i = 0; i < 1000; i++) {
      assertArrayEquals(payload, session.ping(payload));
    }
  }

  @Test
  void shouldReturnOneRow() {
    try (PreparedStatement statement = session.prepare(FixedEngine.ONE)) {
      for (int i = 0; i < 100; i++) {
        try (Rows rows = session.query(statement)) {
          assertTrue(rows.next());
          assertEquals(1, rows.getLong(0));
          assertFalse(rows.next());
        }
      }
    }
  }

  @Test
  void shouldReturnManyRowsThroughArena() {
    PreparedStatement statement = session.prepare(FixedEngine.NUMBERS);
    long expected = 0;
    try (Rows rows = session.query(statement, statement.parameters().addRow(1_000_000L))) {
      while (rows.next()) {
        if (rows.getLong(0) != expected
            || (expected % 1000 == 0 && !rows.getString(1).equals("row " + expected))) {
          throw new AssertionError(
              "row " + expected + " is " + rows.getLong(0) + " " + rows.getString(1));
        }
        expected++;
      }
      assertEquals(1_000_000, rows.rowsAffected());
    }
    assertEquals(1_000_000, expected);
  }

  @Test
  void shouldBoundMemoryOfSlowReader() throws InterruptedException {
    PreparedStatement statement = session.prepare(FixedEngine.NUMBERS);
    try (Rows rows = session.query(statement, statement.parameters().addRow(100_000_000L))) {
      assertTrue(rows.next());
      endpoint.await(
          "producer waits for the reader",
          () -> endpoint.server().transport().usage().watchedChannels() > 0);
      // A window of batches, of four blocks at most.
      assertTrue(endpoint.server().transport().usage().blocks() <= 16 * 4);
    }
    assertArrayEquals(new byte[1], session.ping(new byte[1]));
  }

  @Test
  void shouldReportErrorWithAllFields() {
    EndpointException e = assertThrows(EndpointException.class, () -> session.prepare("SELEC 1"));
    assertEquals("42601", e.sqlstate());
    assertEquals("syntax error at or near \"SELEC 1\"", e.getMessage());
    assertEquals("There are five statements.", e.failure().hint());
    assertEquals(1, e.failure().position());
    assertFalse(e.isFatal());
  }

  @Test
  void shouldWaitForStatementThatIsPlannedByWorker() {
    try (PreparedStatement statement = session.prepare(FixedEngine.PLANNED);
        Rows rows = session.query(statement)) {
      assertTrue(rows.next());
    }
  }

  @Test
  void shouldCommitAndRollBack() {
    PreparedStatement insert = session.prepare(FixedEngine.INSERT);
    long before = count();
    try (Transaction transaction = session.begin()) {
      assertEquals(
          2, transaction.update(insert, insert.parameters().addRow(1L, "a").addRow(2L, null)));
      assertEquals(TransactionState.ACTIVE, session.outcome(transaction.handle()));
      transaction.commit();
      assertEquals(TransactionState.COMMITTED, transaction.state());
      assertEquals(TransactionState.COMMITTED, session.outcome(transaction.handle()));
    }
    assertEquals(before + 2, count());
    try (Transaction transaction = session.begin()) {
      transaction.update(insert, insert.parameters().addRow(3L, "c"));
    }
    assertEquals(before + 2, count());
  }

  private long count() {
    try (PreparedStatement statement = session.prepare(FixedEngine.COUNT);
        Rows rows = session.query(statement)) {
      assertTrue(rows.next());
      return rows.getLong(0);
    }
  }

  @Test
  void shouldKeepOutcomeAcrossSessions() {
    PreparedStatement insert = session.prepare(FixedEngine.INSERT);
    Transaction transaction = session.begin();
    transaction.update(insert, insert.parameters().addRow(1L, "a"));
    transaction.commit();
    try (Session other = endpoint.attach()) {
      assertEquals(TransactionState.COMMITTED, other.outcome(transaction.handle()));
      // Nothing of it is there.
      assertEquals(TransactionState.ABORTED, other.outcome(transaction.handle() + 1));
    }
  }

  @Test
  void shouldUndoToSavepoint() {
    PreparedStatement insert = session.prepare(FixedEngine.INSERT);
    long before = count();
    try (Transaction transaction = session.begin()) {
      transaction.update(insert, insert.parameters().addRow(1L, "a"));
      int level = transaction.savepoint();
      transaction.update(insert, insert.parameters().addRow(2L, "b"));
      transaction.rollbackToSavepoint(level);
      transaction.releaseSavepoint(level);
      EndpointException e =
          assertThrows(EndpointException.class, () -> transaction.rollbackToSavepoint(3));
      assertEquals("3B001", e.sqlstate());
      transaction.commit();
    }
    assertEquals(before + 1, count());
  }

  @Test
  @SuppressWarnings("try") // closing early is the point
  void shouldContinueTransactionOfOtherSession() {
    long before = count();
    try (Session other = endpoint.attach()) {
      Transaction begun = other.begin();
      PreparedStatement insert = session.prepare(FixedEngine.INSERT);
      Transaction attached = session.attachTransaction(begun.handle());
      attached.update(insert, insert.parameters().addRow(1L, "from the second session"));
      other.close();
      // The first session is gone, the transaction lives on with the second.
      attached.commit();
    }
    assertEquals(before + 1, count());
  }

  @Test
  void shouldRefuseUnknownHandle() {
    PreparedStatement insert = session.prepare(FixedEngine.INSERT);
    Transaction unknown = session.attachTransaction(4711 << 16);
    EndpointException e =
        assertThrows(
            EndpointException.class,
            () -> unknown.update(insert, insert.parameters().addRow(1L, "a")));
    assertEquals("25P01", e.sqlstate());
  }

  @Test
  void shouldCancelRunningStatement() throws InterruptedException {
    PreparedStatement statement = session.prepare(FixedEngine.FOREVER);
    try (Rows rows = session.query(statement)) {
      Thread.ofVirtual().start(rows::cancel);
      EndpointException e = assertThrows(EndpointException.class, rows::next);
      assertEquals("57014", e.sqlstate());
    }
    assertArrayEquals(new byte[0], session.ping(new byte[0]));
  }

  @Test
  void shouldCancelWhatRunsInATransactionOfAnotherSession() {
    long before = count();
    try (Session other = endpoint.attach();
        PreparedStatement forever = session.prepare(FixedEngine.FOREVER);
        PreparedStatement insert = session.prepare(FixedEngine.INSERT);
        Transaction transaction = session.begin()) {
      try (Rows first = transaction.query(forever);
          Rows second = transaction.query(forever)) {
        session.ping(new byte[0]); // both have begun
        assertTrue(other.cancelTransaction(transaction.handle()));
        for (Rows rows : List.of(first, second)) {
          EndpointException e = assertThrows(EndpointException.class, rows::next);
          assertEquals("57014", e.sqlstate());
        }
      }
      transaction.update(insert, insert.parameters().addRow(1L, "after the cancel"));
      assertTrue(other.cancelTransaction(transaction.handle()), "nothing runs, but it is open");
      transaction.commit();
      assertFalse(other.cancelTransaction(transaction.handle()));
      assertFalse(other.cancelTransaction(4711 << 16));
    }
    assertEquals(before + 1, count());
  }

  @Test
  void shouldTakeBulkParametersFromInboundBuffer() {
    PreparedStatement insert = session.prepare(FixedEngine.INSERT);
    InboundBuffers buffers = session.acquireBuffers(2, 1 << 20);
    long before = count();
    long added = 0;
    for (int i = 0; i < 4; i++) {
      Parameters rows = buffers.parameters(i % 2, insert, 16);
      while (rows.tryAddRow(added, "bulk")) {
        added++;
      }
      assertEquals(rows.rowCount(), session.update(insert, rows));
    }
    assertTrue(added > 50_000, "added " + added);
    assertEquals(before + added, count());
    session.releaseBuffers();
  }

  @Test
  void shouldRefuseMissingParameters() {
    PreparedStatement insert = session.prepare(FixedEngine.INSERT);
    EndpointException e = assertThrows(EndpointException.class, () -> session.update(insert));
    assertEquals("42P02", e.sqlstate());
  }

  @Test
  void shouldKeepSeveralResultsOpen() {
    PreparedStatement statement = session.prepare(FixedEngine.NUMBERS);
    try (Rows a = session.query(statement, statement.parameters().addRow(50_000L));
        Rows b = session.query(statement, statement.parameters().addRow(50_000L))) {
      for (long n = 0; n < 50_000; n++) {
        assertTrue(a.next() && b.next());
        assertEquals(a.getLong(0), b.getLong(0));
      }
    }
  }

  @Test
  void shouldRefuseMoreOpenResultsThanSlots() {
    PreparedStatement statement = session.prepare(FixedEngine.FOREVER);
    Rows[] open = new Rows[session.limits().mailbox().slots()];
    for (int i = 0; i < open.length; i++) {
      open[i] = session.query(statement);
    }
    EndpointException e = assertThrows(EndpointException.class, () -> session.query(statement));
    assertEquals("53000", e.sqlstate());
    for (Rows rows : open) {
      rows.close();
    }
  }

  @Test
  void shouldSayThatAClosedSessionIsClosed() {
    session.close();
    EndpointException e =
        assertThrows(EndpointException.class, () -> session.prepare(FixedEngine.INSERT));
    assertEquals("08006: session is closed", e.toString());
  }

  /// The endpoint gives the memory of its sessions back while their clients wait, so that slots are cleared.
  @Test
  void shouldTellAWaitingClientThatTheEndpointHasEnded() throws IOException {
    Rows endless;
    try (TestEndpoint ending = TestEndpoint.start()) {
      Session waiting = ending.attach();
      try (PreparedStatement one = waiting.prepare(FixedEngine.ONE);
          Rows rows = waiting.query(one)) {
        assertTrue(rows.next());
      }
      endless = waiting.query(waiting.prepare(FixedEngine.FOREVER));
    }
    EndpointException e = assertThrows(EndpointException.class, endless::next);
    assertEquals("08006", e.sqlstate());
  }

  @Test
  void shouldEndWorkOfSessionThatCloses() {
    PreparedStatement statement = session.prepare(FixedEngine.FOREVER);
    Transaction transaction = session.begin();
    Rows rows = transaction.query(statement);
    assertFalse(rows.columns().isEmpty());
    // detach() checks that slots, buffers and the transaction go.
  }
}
