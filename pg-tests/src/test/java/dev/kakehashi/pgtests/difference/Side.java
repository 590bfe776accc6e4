package dev.kakehashi.pgtests.difference;

import dev.kakehashi.pgtests.harness.Cluster;
import dev.kakehashi.pgtests.harness.Sql;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;

/// One session that sees the tables of one schema. Used by one thread.
final class Side implements AutoCloseable {
  private final String schema;
  private final Connection connection;
  private final long dataSeed;
  private int transactions;

  Side(Cluster cluster, String schema, long dataSeed) throws SQLException {
    this.schema = schema;
    this.dataSeed = dataSeed;
    connection = cluster.postgres().connect("preferQueryMode=simple");
    reset();
  }

  private void reset() throws SQLException {
    // A zone with two offsets in the days of the data: what depends on it must not be sent.
    Sql.execute(
        connection,
        "RESET ALL; SET search_path = "
            + schema
            + ", public; SET timezone = 'Europe/Berlin'; SET statement_timeout = '2min'");
  }

  void fill() throws SQLException {
    Sql.execute(connection, Tables.rows(schema, dataSeed).toArray(String[]::new));
    Sql.execute(connection, "ANALYZE " + schema + ".a", "ANALYZE " + schema + ".b");
  }

  Answer run(Program program) throws SQLException {
    Answer answer = new Answer();
    if (!program.settings().isEmpty()) {
      Sql.execute(connection, String.join(";", program.settings()));
    }
    if (program.changing()) {
      change(program, answer);
    } else {
      for (String sql : program.statements()) {
        answer.add(sql, result(sql, program.ordered()));
      }
      if (answer.failed()) {
        Sql.execute(connection, "ROLLBACK", "DEALLOCATE ALL");
      }
    }
    if (!program.settings().isEmpty()) {
      reset();
    }
    return answer;
  }

  private void change(Program program, Answer answer) throws SQLException {
    Sql.execute(connection, "BEGIN");
    for (String sql : program.statements()) {
      boolean ofSavepoint = sql.contains("SAVEPOINT");
      if (!ofSavepoint) {
        Sql.execute(connection, "SAVEPOINT before_statement");
      }
      String result = result(sql, false);
      if (result.startsWith(Answer.ERROR)) {
        Sql.execute(connection, "ROLLBACK TO SAVEPOINT before_statement");
      } else if (!ofSavepoint) {
        Sql.execute(connection, "RELEASE SAVEPOINT before_statement");
      }
      answer.add(sql, result);
    }
    answer.add("the table inside", result(Tables.ALL_OF_W, true));
    Sql.execute(connection, program.commits() ? "COMMIT" : "ROLLBACK");
    answer.add("the table after", result(Tables.ALL_OF_W, true));
    if (program.commits()) {
      Sql.execute(connection, "DELETE FROM w", Tables.rowsOfW(schema, dataSeed));
    }
    if (++transactions % 50 == 0 && schema.equals("heap")) {
      // Rows of transactions that were rolled back would make the heap long.
      Sql.execute(connection, "VACUUM heap.w");
    }
  }

  /// Number of rows and the rows, or how many were changed, or the SQLSTATE and the message.
  String result(String sql, boolean ordered) {
    try (Statement statement = connection.createStatement()) {
      if (!statement.execute(sql)) {
        return "changed " + statement.getUpdateCount();
      }
      List<String> rows = new ArrayList<>();
      try (ResultSet result = statement.getResultSet()) {
        int columns = result.getMetaData().getColumnCount();
        while (result.next()) {
          StringBuilder row = new StringBuilder();
          for (int i = 1; i <= columns; i++) {
            row.append(i > 1 ? "|" : "").append(result.getString(i));
          }
          rows.add(row.toString());
        }
      }
      if (!ordered) {
        rows.sort(null);
      }
      return rows.size() + " rows\n" + String.join("\n", rows);
    } catch (SQLException e) {
      return Answer.ERROR + e.getSQLState() + "\n" + e.getMessage();
    }
  }

  @Override
  public void close() throws SQLException {
    connection.close();
  }
}
