package dev.kakehashi.pgtests;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.kakehashi.pgtests.harness.Cluster;
import dev.kakehashi.pgtests.harness.PsqlSession;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.StandardOpenOption;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/// An endpoint with `authentication = password`: a user mapping has to name a user of the endpoint and the password.
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class PasswordTest {
  private static final String COUNT =
      "SELECT * FROM kakehashi_query('kakehashi', 'SELECT 1 AS one') AS t (one int4)";

  private final Cluster cluster = Cluster.start("password", "authentication=password");

  @BeforeAll
  void addUser() {
    cluster.endpoint().command("secret\n", "user", "add", "alice");
  }

  @AfterAll
  void stop() {
    cluster.close();
  }

  private static void map(PsqlSession psql, String options) {
    psql.run("DROP USER MAPPING IF EXISTS FOR CURRENT_USER SERVER kakehashi");
    assertEquals(
        "",
        psql.run(
            "CREATE USER MAPPING FOR CURRENT_USER SERVER kakehashi OPTIONS (" + options + ")"));
  }

  private static void assertRefused(String message, String output) {
    assertTrue(output.contains("28P01:") && output.contains(message), output);
  }

  @Test
  void shouldAskForAUserAndThePassword() {
    try (var psql = PsqlSession.open(cluster.postgres())) {
      map(psql, "user 'alice'");
      assertRefused("no password given", psql.run(COUNT));
      map(psql, "user 'alice', password 'secret'");
      assertEquals("1", psql.run(COUNT));
      map(psql, "user 'alice', password 'guessed'");
      assertRefused("password authentication failed for user \"alice\"", psql.run(COUNT));
      map(psql, "user 'mallory', password 'secret'");
      assertRefused("password authentication failed for user \"mallory\"", psql.run(COUNT));
      assertEquals("1", psql.run("SELECT 1"), "the session stays usable");
    }
  }

  @Test
  void shouldLetAnOrdinaryUserInWithAPasswordOfHisMapping() {
    try (var psql = PsqlSession.open(cluster.postgres())) {
      psql.run("CREATE ROLE clerk");
      psql.run("GRANT USAGE ON FOREIGN SERVER kakehashi TO clerk");
      psql.run("GRANT EXECUTE ON FUNCTION kakehashi_query(name, text) TO clerk");
      psql.run(
          "CREATE USER MAPPING FOR clerk SERVER kakehashi OPTIONS (user 'alice', password 'secret')");
      psql.run("SET ROLE clerk");
      assertEquals("1", psql.run(COUNT));
    }
  }

  @Test
  void shouldSeeChangesOfUsersWithoutARestart() {
    cluster.endpoint().command("first\n", "user", "add", "bob");
    assertTrue(cluster.endpoint().command("", "user", "list").contains("bob"));
    try (var psql = PsqlSession.open(cluster.postgres())) {
      map(psql, "user 'bob', password 'first'");
      assertEquals("1", psql.run(COUNT));
      cluster.endpoint().command("second\n", "user", "add", "--replace", "bob");
      assertEquals("1", psql.run(COUNT), "an attached session goes on");
      psql.run("SELECT kakehashi_disconnect('kakehashi')");
      assertRefused("password authentication failed", psql.run(COUNT));
      map(psql, "user 'bob', password 'second'");
      assertEquals("1", psql.run(COUNT));
      cluster.endpoint().command("", "user", "remove", "bob");
      psql.run("SELECT kakehashi_disconnect('kakehashi')");
      assertRefused("password authentication failed", psql.run(COUNT));
    }
  }

  /// PostgreSQL hashes each of them as its own; the endpoint gets the hash, the extension the password, and both prepare it alike. A
  /// password with prohibited characters is taken as it is.
  @ParameterizedTest
  @ValueSource(
      strings = {
        "p\u00e4ss w\u00f6rd",
        "pa\u0308ss", // a letter and its dots
        "\u2168 \uff21", // roman nine, a wide letter
        "a\u00a0b\u200bc\u00add", // spaces, a soft hyphen
        "\u2168\ud83d\ude00", // an emoji, which SASLprep does not know
        "\u2168\u06271", // both directions
        "\u61f8\u3051\u6a4b",
        "\u2168\u0221\ue000"
      })
  void shouldPrepareAPasswordAsPostgresqlDoes(String password) throws IOException {
    try (var psql = PsqlSession.open(cluster.postgres())) {
      psql.run("DROP ROLE IF EXISTS hashed");
      psql.run("CREATE ROLE hashed PASSWORD '" + password + "'");
      String verifier = psql.run("SELECT rolpassword FROM pg_authid WHERE rolname = 'hashed'");
      // The last line of a user counts.
      Files.writeString(
          cluster.endpoint().dataDirectory().resolve("users"),
          "hashed:" + verifier + "\n",
          StandardOpenOption.APPEND);
      psql.run("SELECT kakehashi_disconnect('kakehashi')");
      map(psql, "user 'hashed', password '" + password + "'");
      assertEquals("1", psql.run(COUNT));
      // The endpoint's own hash of it.
      cluster.endpoint().command(password + "\n", "user", "add", "--replace", "hashed");
      psql.run("SELECT kakehashi_disconnect('kakehashi')");
      assertEquals("1", psql.run(COUNT));
    }
  }
}
