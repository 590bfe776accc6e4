package dev.kakehashi.pgtests.application;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.kakehashi.pgtests.harness.Cluster;
import dev.kakehashi.pgtests.harness.Sql;
import java.sql.Connection;
import java.sql.SQLException;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;

/// Functions and procedures of applications, from PostgreSQL: what goes over, who may, and what is refused.
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class ImportedFunctionsTest {
  private final Cluster cluster = Cluster.start("applications");
  private Connection connection;

  ImportedFunctionsTest() throws SQLException {
    connection = cluster.connect();
  }

  @BeforeEach
  void connect() throws SQLException {
    connection.close();
    connection = cluster.connect();
  }

  @AfterEach
  void dropAll() throws SQLException {
    connection.close();
    connection = cluster.connect();
    Sql.execute(
        connection,
        "DROP FOREIGN TABLE IF EXISTS sale",
        "DROP TABLE IF EXISTS sale_here",
        "SELECT kakehashi_execute('kakehashi', 'DROP TABLE IF EXISTS sale')",
        "SELECT kakehashi_execute('kakehashi', 'DROP APPLICATION IF EXISTS library CASCADE')");
  }

  @AfterAll
  void stop() throws SQLException {
    connection.close();
    cluster.close();
  }

  @Test
  void shouldGiveTheSameHereAndThere() throws SQLException {
    ImportedFunctions.check(connection);
  }

  @Test
  void shouldShipParametersOfPreparedStatements() throws SQLException {
    ImportedFunctions.deploy(connection);
    Sql.execute(
        connection,
        "SELECT kakehashi_execute('kakehashi', 'CREATE TABLE sale (id bigint PRIMARY KEY, price numeric)')",
        "IMPORT FOREIGN SCHEMA public LIMIT TO (sale) FROM SERVER kakehashi INTO public",
        "INSERT INTO sale SELECT i, i FROM generate_series(1, 100) i",
        "SET plan_cache_mode = force_generic_plan",
        "PREPARE dear(numeric) AS SELECT count(*) FROM sale WHERE with_tax(price, $1) > 100");
    assertEquals("10", Sql.value(connection, "EXECUTE dear(10)"));
    assertEquals("50", Sql.value(connection, "EXECUTE dear(100)"));
    assertTrue(
        Sql.value(connection, "EXPLAIN (VERBOSE, COSTS OFF) EXECUTE dear(10)")
            .contains("with_tax\"(\"price\", $1"));
    // A function that changes here is another one from the next execution on.
    Sql.execute(connection, "DROP FUNCTION with_tax(numeric, numeric)");
    assertEquals("42883", Sql.failure(connection, "EXECUTE dear(10)").getSQLState());
  }

  @Test
  void shouldImportAndCallForThoseAloneWhoMay() throws SQLException {
    ImportedFunctions.deploy(connection);
    Sql.execute(
        connection,
        "CREATE ROLE clerk",
        "GRANT USAGE ON FOREIGN SERVER kakehashi TO clerk",
        "CREATE USER MAPPING FOR clerk SERVER kakehashi OPTIONS (password_required 'false')");
    try {
      Sql.execute(connection, "SET ROLE clerk");
      for (String refused :
          new String[] {
            "SELECT * FROM kakehashi_import_functions('kakehashi', 'public')",
            "SELECT kakehashi_run('kakehashi', 'nothing')",
            "SELECT kakehashi_deploy('kakehashi', 'other', '')"
          }) {
        assertEquals("42501", Sql.failure(connection, refused).getSQLState(), refused);
      }
      // Stubs have the rights that functions have.
      assertEquals("t", Sql.value(connection, "SELECT luhn_valid('4000000000000002')"));
      Sql.execute(connection, "RESET ROLE", "REVOKE EXECUTE ON FUNCTION luhn_valid FROM PUBLIC");
      Sql.execute(connection, "SET ROLE clerk");
      assertEquals(
          "42501", Sql.failure(connection, "SELECT luhn_valid('4000000000000002')").getSQLState());
    } finally {
      Sql.execute(
          connection,
          "RESET ROLE",
          "DROP USER MAPPING FOR clerk SERVER kakehashi",
          "DROP OWNED BY clerk",
          "DROP ROLE clerk");
    }
  }

  @Test
  void shouldReportAFunctionThatIsNotThereAnyMore() throws SQLException {
    ImportedFunctions.deploy(connection);
    assertEquals("1082.00", Sql.value(connection, "SELECT with_tax(1000, 8.2)"));
    Sql.execute(connection, "SELECT kakehashi_execute('kakehashi', 'DROP APPLICATION library')");
    assertEquals("42883", Sql.failure(connection, "SELECT with_tax(1000, 8.2)").getSQLState());
    ImportedFunctions.deploy(connection);
    assertEquals("1082.00", Sql.value(connection, "SELECT with_tax(1000, 8.2)"));
    // Within one transaction it is there for itself, and for nobody else after a rollback.
    connection.setAutoCommit(false);
    Sql.execute(connection, "SELECT kakehashi_execute('kakehashi', 'DROP APPLICATION library')");
    connection.rollback();
    connection.setAutoCommit(true);
    assertEquals("1082.00", Sql.value(connection, "SELECT with_tax(1000, 8.2)"));
  }

  @Test
  void shouldRefuseAJarThatIsNoneAndKeepTheSession() throws SQLException {
    SQLException failure =
        Sql.failure(connection, "SELECT kakehashi_deploy('kakehashi', 'broken', '\\x504b0304')");
    assertEquals("22023", failure.getSQLState(), failure.getMessage());
    assertFalse(
        Sql.value(
                connection,
                "SELECT kakehashi_execute('kakehashi', 'DROP APPLICATION IF EXISTS broken')")
            .isEmpty());
  }
}
