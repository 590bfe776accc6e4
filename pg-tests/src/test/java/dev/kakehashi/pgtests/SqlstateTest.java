package dev.kakehashi.pgtests;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;

import dev.kakehashi.pgtests.harness.Cluster;
import dev.kakehashi.pgtests.harness.Sql;
import java.sql.Connection;
import java.sql.SQLException;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.postgresql.util.PSQLException;

/// Failures of the engine arrive with PostgreSQL's codes, and the session stays usable.
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class SqlstateTest {
  private final Cluster cluster = Cluster.start("sqlstate");

  @BeforeAll
  void createTable() throws SQLException {
    cluster.createTable("account", "id int4, owner varchar(5) NOT NULL, balance int4", "id");
    cluster.onEngine("INSERT INTO account VALUES (1, 'one', 10)");
  }

  @AfterAll
  void stop() {
    cluster.close();
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "23505 | INSERT INTO account VALUES (1, 'again', 0)",
        "23502 | INSERT INTO account VALUES (2, NULL, 0)",
        "22012 | SELECT id FROM account WHERE balance / (id - 1) = 1",
        "22003 | UPDATE account SET balance = balance + 2147483647",
        "42P01 | SELECT * FROM kakehashi_query('kakehashi', 'SELECT 1 FROM nowhere') AS t(a int4)",
        "42703 | SELECT * FROM kakehashi_query('kakehashi', 'SELECT nothing FROM account') AS t(a int4)",
        "42601 | SELECT kakehashi_execute('kakehashi', 'SELEC 1')",
        "42P07 | SELECT kakehashi_execute('kakehashi', 'CREATE TABLE account (id int4, PRIMARY KEY (id))')",
      })
  void shouldReportTheFailuresOfTheEngine(String sqlstate, String sql) throws SQLException {
    try (Connection connection = cluster.connect()) {
      SQLException failure = Sql.failure(connection, sql);
      assertEquals(sqlstate, failure.getSQLState(), failure.getMessage());
      assertEquals("1|one|10", Sql.value(connection, "SELECT * FROM account"));
    }
  }

  @Test
  void shouldNameTheTableOfAViolatedKey() throws SQLException {
    try (Connection connection = cluster.connect()) {
      var failure =
          (PSQLException) Sql.failure(connection, "INSERT INTO account VALUES (1, 'again', 0)");
      var fields = failure.getServerErrorMessage();
      assertNotNull(fields);
      assertEquals("account", fields.getTable());
    }
  }

  @Test
  void shouldReportALostUpdateAsSerializationFailure() throws SQLException {
    try (Connection first = cluster.connect();
        Connection second = cluster.connect()) {
      Sql.execute(first, "BEGIN ISOLATION LEVEL REPEATABLE READ", "SELECT balance FROM account");
      Sql.execute(second, "UPDATE account SET balance = balance WHERE id = 1");
      SQLException failure =
          org.junit.jupiter.api.Assertions.assertThrows(
              SQLException.class,
              () ->
                  Sql.execute(
                      first, "UPDATE account SET balance = balance WHERE id = 1", "COMMIT"));
      assertEquals("40001", failure.getSQLState(), failure.getMessage());
      Sql.execute(first, "ROLLBACK");
    }
  }
}
