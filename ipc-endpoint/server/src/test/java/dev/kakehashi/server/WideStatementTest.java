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
import java.io.IOException;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/// Statements longer than a request, and descriptions longer than the frame area of a slot.
class WideStatementTest {
  private static final int COLUMNS = 1600; // the engine's most

  private static List<String> longNames() {
    return IntStream.range(0, COLUMNS).mapToObj("%063d"::formatted).toList();
  }

  private static String list(List<String> names, String suffix) {
    return names.stream()
        .map(name -> '"' + name + '"' + suffix)
        .collect(Collectors.joining(", ", "(", ")"));
  }

  private static long bufferBytes(Session session) {
    try (PreparedStatement query =
            session.prepare("select max(buffer_bytes) from kakehashi_catalog.sessions");
        Rows rows = session.query(query)) {
      assertTrue(rows.next());
      return rows.getLong(0);
    }
  }

  @Test
  void shouldDescribeFillAndReadTableOfAsManyColumnsAsThereMayBe() throws IOException {
    List<String> names = longNames();
    String parameters =
        IntStream.rangeClosed(1, COLUMNS)
            .mapToObj(i -> "$" + i)
            .collect(Collectors.joining(", ", "(", ")"));
    try (EndpointProcess endpoint = EndpointProcess.open();
        Session session = endpoint.attach()) {
      session.execute("create table wide " + list(names, " int"));
      try (PreparedStatement insert =
          session.prepare("insert into wide " + list(names, "") + " values " + parameters)) {
        assertEquals(COLUMNS, insert.parameterTypeOids().length);
        Object[] row = IntStream.range(0, COLUMNS).boxed().toArray();
        assertEquals(1, session.update(insert, insert.parameters().addRow(row)));
      }
      try (PreparedStatement select = session.prepare("select * from wide")) {
        assertEquals(names, select.columns().stream().map(column -> column.name()).toList());
        try (Rows rows = session.query(select)) {
          assertTrue(rows.next());
          assertArrayEquals(
              IntStream.range(0, COLUMNS).toArray(),
              IntStream.range(0, COLUMNS).map(rows::getInt).toArray());
          assertFalse(rows.next());
        }
      }
      assertEquals(0, bufferBytes(session), "buffers of the statements are given back");
    }
  }

  @Test
  void shouldPrepareStatementOfSeveralMegabytesAndReportItsError() throws IOException {
    String text = "x".repeat(3 << 20);
    try (EndpointProcess endpoint = EndpointProcess.open("max_batch_bytes=4MB");
        Session session = endpoint.attach()) {
      try (PreparedStatement select = session.prepare("select length('" + text + "')");
          Rows rows = session.query(select)) {
        assertTrue(rows.next());
        assertEquals(text.length(), rows.getInt(0));
      }
      var held = session.acquireBuffers(1, 8192);
      assertEquals(
          "42601",
          assertThrows(EndpointException.class, () -> session.prepare("select '" + text))
              .sqlstate());
      assertEquals(1, held.count());
      session.releaseBuffers();
      assertEquals(
          "54000",
          assertThrows(
                  EndpointException.class, () -> session.prepare("select '" + text + text + "'"))
              .sqlstate());
      assertEquals(0, bufferBytes(session));
    }
  }
}
