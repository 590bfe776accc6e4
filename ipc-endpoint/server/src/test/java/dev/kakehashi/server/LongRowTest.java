package dev.kakehashi.server;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.kakehashi.client.EndpointException;
import dev.kakehashi.client.PreparedStatement;
import dev.kakehashi.client.Rows;
import dev.kakehashi.client.Session;
import dev.kakehashi.client.Transaction;
import dev.kakehashi.testsupport.Await;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Test;

/// Rows that are a batch alone, through shared memory, log and recovery.
class LongRowTest {
  private static final int MEGABYTE = 1 << 20;
  private static final String INSERT = "insert into document values ($1, $2)";
  private static final String SELECT = "select body from document where id = $1";

  private static Session withTable(EndpointProcess endpoint) {
    Session session = endpoint.attach();
    session.execute("create table document (id int primary key, body bytea)");
    return session;
  }

  private static byte[] body(int id, int bytes) {
    byte[] body = new byte[bytes];
    new Random(id).nextBytes(body);
    return body;
  }

  private static void insert(Session session, int id, byte[] body) {
    try (PreparedStatement insert = session.prepare(INSERT)) {
      var buffers = session.acquireBuffers(1, body.length + 1024);
      session.update(insert, buffers.parameters(0, insert, body.length).addRow(id, body));
      session.releaseBuffers();
    }
  }

  private static byte[] select(Session session, int id) {
    try (PreparedStatement select = session.prepare(SELECT);
        Rows rows = session.query(select, select.parameters().addRow(id))) {
      assertTrue(rows.next());
      byte[] body = rows.getBytes(0);
      assertFalse(rows.next());
      return body;
    }
  }

  private static String bufferBytes(Session session) {
    try (PreparedStatement query =
            session.prepare("select max(buffer_bytes)::text from kakehashi_catalog.sessions");
        Rows rows = session.query(query)) {
      assertTrue(rows.next());
      return rows.getString(0);
    }
  }

  /// The endpoint sees what the client has released when it looks; each query makes it look.
  private static void awaitGivenBack(Session session) {
    Await.untilEquals("bytes that are not given back", "0", () -> bufferBytes(session));
  }

  private static EndpointException refused(Runnable action) {
    return assertThrows(EndpointException.class, action::run);
  }

  @Test
  void shouldKeepRowOf40MegabytesThroughKillAndGiveSharedMemoryBack() throws IOException {
    byte[] first = body(1, 40 * MEGABYTE);
    byte[] second = body(2, 5 * MEGABYTE);
    try (EndpointProcess endpoint = EndpointProcess.open()) {
      try (Session session = withTable(endpoint)) {
        insert(session, 1, first);
        awaitGivenBack(session);
        insert(session, 2, second);
        assertArrayEquals(first, select(session, 1));
        assertArrayEquals(second, select(session, 2));
        awaitGivenBack(session);
        session.execute("update document set body = body || body where id = 2");
      }
      endpoint.kill();
      endpoint.start();
      try (Session session = endpoint.attach()) {
        assertArrayEquals(first, select(session, 1));
        assertEquals(2 * second.length, select(session, 2).length);
      }
    }
  }

  @Test
  void shouldReadSeveralResultsByTurnsBeyondShareOfSession() throws IOException {
    try (EndpointProcess endpoint =
            EndpointProcess.open(
                "max_batch_bytes=12MB", "session_buffers=24MB", "user_buffers=64MB");
        Session session = withTable(endpoint)) {
      for (int id = 1; id <= 3; id++) {
        insert(session, id, body(id, 10 * MEGABYTE));
      }
      try (PreparedStatement all = session.prepare("select id, body from document");
          Transaction transaction = session.begin()) {
        List<Rows> open = new ArrayList<>();
        for (int i = 0; i < 4; i++) {
          open.add(transaction.query(all));
        }
        // Each holds a batch while the others go on: 40 MB of a share of 24.
        for (int row = 0; row < 3; row++) {
          for (Rows rows : open) {
            assertTrue(rows.next());
            assertEquals(10 * MEGABYTE, rows.getBytes(1).length);
          }
        }
        for (Rows rows : open) {
          assertFalse(rows.next());
          rows.close();
        }
        transaction.rollback();
      }
      awaitGivenBack(session);
    }
  }

  @Test
  void shouldRefuseRowForWhichOtherResultsOfTheSessionLeaveNoMemory() throws IOException {
    try (EndpointProcess endpoint =
            EndpointProcess.open(
                "max_batch_bytes=12MB", "session_buffers=24MB", "user_buffers=24MB");
        Session session = withTable(endpoint)) {
      insert(session, 1, body(1, 10 * MEGABYTE));
      try (PreparedStatement all = session.prepare("select id, body from document");
          Transaction transaction = session.begin();
          Rows first = transaction.query(all);
          Rows second = transaction.query(all)) {
        assertTrue(first.next());
        assertTrue(second.next());
        try (Rows third = transaction.query(all)) {
          EndpointException refused = refused(third::next);
          assertEquals("53200", refused.sqlstate(), refused.getMessage());
        }
        assertEquals(10 * MEGABYTE, first.getBytes(1).length);
        transaction.rollback();
      }
      assertEquals(10 * MEGABYTE, select(session, 1).length);
    }
  }

  @Test
  void shouldRefuseLongerRowThanItMayBeInEitherDirection() throws IOException {
    try (EndpointProcess endpoint = EndpointProcess.open("max_batch_bytes=8MB");
        Session session = withTable(endpoint);
        PreparedStatement query =
            session.prepare("select repeat('x', $1) from (values (1)) as one")) {
      try (Rows rows = session.query(query, query.parameters().addRow(8 * MEGABYTE - 100))) {
        assertTrue(rows.next());
        assertEquals(8 * MEGABYTE - 100, rows.getString(0).length());
      }
      try (Rows rows = session.query(query, query.parameters().addRow(8 * MEGABYTE))) {
        assertEquals("54000", refused(rows::next).sqlstate());
      }
      assertEquals("54000", refused(() -> session.acquireBuffers(1, 8 * MEGABYTE + 1)).sqlstate());
      awaitGivenBack(session);
    }
  }

  @Test
  void shouldCommitTransactionWhoseRowsDoNotFitIntoHeapAndGoOn() throws IOException {
    Map<String, String> small =
        Map.of("JAVA_TOOL_OPTIONS", "-Xms128m -Xmx128m -XX:+ExitOnOutOfMemoryError");
    try (EndpointProcess endpoint = EndpointProcess.open(small);
        Session session = withTable(endpoint)) {
      byte[] body = body(1, 30 * MEGABYTE);
      insert(session, 1, body);
      try (Transaction transaction = session.begin();
          PreparedStatement more =
              session.prepare(
                  "insert into document select g, body from document, generate_series(2, 5) g where id = 1")) {
        assertEquals(4, transaction.update(more));
        transaction.commit();
      }
      assertArrayEquals(body, select(session, 3));
      assertArrayEquals(body, select(session, 1));
      insert(session, 6, body);
      assertArrayEquals(body, select(session, 6));
    }
  }
}
