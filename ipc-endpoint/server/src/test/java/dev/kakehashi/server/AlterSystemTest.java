package dev.kakehashi.server;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.kakehashi.client.EndpointException;
import dev.kakehashi.client.PreparedStatement;
import dev.kakehashi.client.Rows;
import dev.kakehashi.client.Session;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/// Settings that SQL changes.
@Timeout(120)
class AlterSystemTest {
  @TempDir private Path home;

  /// Value, source, whether it is pending, and what is.
  private static String setting(Session session, String name) {
    try (PreparedStatement statement =
            session.prepare(
                "select value || ' ' || source || coalesce(' ' || pending_value, '') from kakehashi_catalog.settings where name = '"
                    + name
                    + "'");
        Rows rows = session.query(statement)) {
      assertTrue(rows.next());
      return rows.getString(0);
    }
  }

  private static String refusal(Session session, String sql) {
    EndpointException refused =
        assertThrows(EndpointException.class, () -> session.execute(sql), sql);
    return refused.sqlstate() + " " + refused.getMessage();
  }

  @Test
  void shouldKeepWhatAlterSystemSetsThroughReloadAndRestart() throws Exception {
    Path config = home.resolve("kakehashi.conf");
    Files.writeString(config, "memory = 64MB\nlock_timeout = 1s\n");
    EndpointProcess endpoint = EndpointProcess.open(config);
    try (endpoint;
        Session session = endpoint.attach()) {
      String data = endpoint.dataDirectory().toString();
      assertEquals("64MB configuration file", setting(session, "memory"));
      assertEquals("1GB default", setting(session, "archive_size"));
      session.execute("ALTER SYSTEM SET memory = '96MB'");
      session.execute("alter system set max_sessions to 77");
      assertEquals("64MB configuration file", setting(session, "memory"));
      Command.run("reload", "-D", data)
          .expect(0, "memory is 96MB, was 64MB\n", "max_sessions stays ", ", and will be 77\n");
      assertEquals("96MB alter system", setting(session, "memory"));
      assertTrue(setting(session, "max_sessions").endsWith(" 77"), "it is pending");
      session.execute("ALTER SYSTEM RESET memory");
      session.execute("ALTER SYSTEM SET lock_timeout TO DEFAULT");
      Command.run("reload", "-D", data).expect(0, "memory is 64MB, was 96MB\n");
      assertEquals("64MB configuration file", setting(session, "memory"));
      Path file = endpoint.dataDirectory().resolve(AutoSettings.FILE);
      assertTrue(Files.readString(file).endsWith("max_sessions = 77\n"), Files.readString(file));
      assertFalse(Files.exists(file.resolveSibling(AutoSettings.FILE + ".new")));
      session.execute("ALTER SYSTEM RESET ALL");
      Command.run("reload", "-D", data).expect(0, "all settings are as before");
    }
  }

  @Test
  void shouldRefuseWhatWouldKeepTheEndpointFromStarting() throws Exception {
    Path config = home.resolve("kakehashi.conf");
    Files.writeString(config, "");
    try (EndpointProcess endpoint = EndpointProcess.open(config);
        Session session = endpoint.attach()) {
      assertEquals(
          "42704 unrecognized configuration parameter \"memry\"",
          refusal(session, "alter system set memry = '1GB'"));
      assertEquals(
          "55000 parameter \"data_directory\" cannot be changed",
          refusal(session, "alter system set data_directory = '/tmp'"));
      for (String wrong :
          new String[] {
            "memory = '1 elephant'",
            "memory = '1kB'",
            "group = 'a # b'",
            "group = 'a\nb = c'",
            "channel_window = 100000"
          }) {
        assertTrue(refusal(session, "alter system set " + wrong).startsWith("22023 "), wrong);
      }
      assertTrue(refusal(session, "alter system set memory").startsWith("42601 "));
      session.execute("create role plain login");
      session.execute("set role plain");
      assertEquals(
          "42501 permission denied to set parameter \"memory\"",
          refusal(session, "alter system set memory = '1GB'"));
      session.execute("reset role");
      var transaction = session.begin();
      try (PreparedStatement statement = session.prepare("alter system reset memory")) {
        assertEquals(
            "25001",
            assertThrows(EndpointException.class, () -> transaction.query(statement).next())
                .sqlstate());
      }
      transaction.rollback();
      assertFalse(Files.exists(endpoint.dataDirectory().resolve(AutoSettings.FILE)));
    }
  }
}
