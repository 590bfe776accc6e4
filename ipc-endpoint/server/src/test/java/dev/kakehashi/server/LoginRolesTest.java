package dev.kakehashi.server;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.kakehashi.client.AttachOptions;
import dev.kakehashi.client.EndpointException;
import dev.kakehashi.client.PreparedStatement;
import dev.kakehashi.client.Rows;
import dev.kakehashi.client.Session;
import dev.kakehashi.protocol.authentication.ScramVerifier;
import java.io.IOException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.function.Executable;

/// Users of the endpoint as roles of its engine: who gets in, and what he may do there, also after a kill.
class LoginRolesTest {
  private static Session as(EndpointProcess endpoint, String user, String password) {
    return Session.attach(AttachOptions.of(endpoint.runtimeDirectory()).withUser(user, password));
  }

  private static void run(EndpointProcess endpoint, String user, String password, String sql) {
    try (Session session = as(endpoint, user, password)) {
      session.execute(sql);
    }
  }

  private static String text(Session session, String sql) {
    try (PreparedStatement query = session.prepare(sql);
        Rows rows = session.query(query)) {
      return rows.next() ? rows.getString(0) : "";
    }
  }

  private static void refused(String sqlstate, String message, Executable call) {
    EndpointException refusal = assertThrows(EndpointException.class, call);
    assertEquals(sqlstate, refusal.sqlstate(), refusal.toString());
    assertEquals(message, refusal.getMessage());
  }

  @Test
  void shouldMakeRolesOfTheUsersOfTheFile() throws IOException {
    try (EndpointProcess endpoint = EndpointProcess.open("authentication=password")) {
      UserFile users = new UserFile(endpoint.dataDirectory());
      users.add("alice", ScramVerifier.of("a".toCharArray()), false);
      users.add("carol", ScramVerifier.of("c".toCharArray()), false);
      run(endpoint, "carol", "c", "create table t (a int)");
      run(endpoint, "alice", "a", "create role dave login password 'd'");
      refused(
          "42501",
          "permission denied for table t",
          () -> run(endpoint, "carol", "c", "insert into t values (1)"));
      run(endpoint, "alice", "a", "grant insert on t to carol, dave");
      run(endpoint, "carol", "c", "insert into t values (1)");
      run(endpoint, "dave", "d", "insert into t values (2)");
      refused(
          "28P01",
          "password authentication failed for user \"dave\"",
          () -> as(endpoint, "dave", "x"));
      run(endpoint, "alice", "a", "alter role dave nologin");
      refused("28000", "role \"dave\" is not permitted to log in", () -> as(endpoint, "dave", "d"));
      refused(
          "28P01",
          "password authentication failed for user \"dave\"",
          () -> as(endpoint, "dave", "x"));
      run(endpoint, "alice", "a", "alter role dave login valid until '2020-01-01'");
      refused(
          "28P01",
          "password authentication failed for user \"dave\"",
          () -> as(endpoint, "dave", "d"));
      run(endpoint, "alice", "a", "alter role dave valid until 'infinity'");
      // The file still has the passwords of those who got none in SQL, and of those who are no
      // roles.
      users.add("carol", ScramVerifier.of("new".toCharArray()), true);
      users.add("erin", ScramVerifier.of("e".toCharArray()), false);
      endpoint.kill();
      endpoint.start();
      run(endpoint, "carol", "new", "insert into t values (3)");
      run(endpoint, "dave", "d", "insert into t values (4)");
      refused(
          "42501",
          "permission denied for table t",
          () -> run(endpoint, "erin", "e", "insert into t values (5)"));
      run(endpoint, "alice", "a", "create role erin login");
      run(endpoint, "alice", "a", "grant insert on t to erin");
      run(endpoint, "erin", "e", "insert into t values (5)");
      run(endpoint, "alice", "a", "alter role carol password 'sql'");
      refused(
          "28P01",
          "password authentication failed for user \"carol\"",
          () -> as(endpoint, "carol", "new"));
      try (Session alice = as(endpoint, "alice", "a")) {
        assertEquals("5", text(alice, "select count(*)::text from t"));
      }
    }
  }

  @Test
  void shouldCountRightsOfPeersByTheNameTheyWorkUnder() throws IOException {
    try (EndpointProcess endpoint = EndpointProcess.open();
        Session operator = endpoint.attach()) {
      operator.execute("create table t (a int)");
      operator.execute("create role alice login");
      operator.execute("create role gone nologin");
      operator.execute("grant select on t to alice");
      try (Session alice = as(endpoint, "alice", "")) {
        assertEquals(
            "alice 0", text(alice, "select current_user::text || ' ' || count(*)::text from t"));
        refused(
            "42501",
            "permission denied for table t",
            () -> alice.execute("insert into t values (1)"));
      }
      refused("28000", "role \"gone\" is not permitted to log in", () -> as(endpoint, "gone", ""));
      try (Session nobody = as(endpoint, "nobody", "")) {
        assertEquals("1", text(nobody, "select 1::text"));
        refused("42501", "permission denied for table t", () -> text(nobody, "select a from t"));
      }
      operator.execute("insert into t values (1)");
    }
  }
}
