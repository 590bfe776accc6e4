package dev.kakehashi.benchmarks.bulk;

import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;

/// DuckDB in this process, with a database file. Its driver is on the class path of the benchmark alone.
final class DuckDb implements AutoCloseable {
  private final Connection connection;

  DuckDb(Path file) throws SQLException {
    connection = DriverManager.getConnection("jdbc:duckdb:" + file);
  }

  /// Runs statements; each commits.
  void run(String... statements) throws SQLException {
    try (Statement statement = connection.createStatement()) {
      for (String sql : statements) {
        statement.execute(sql);
      }
    }
  }

  /// Seconds of a statement.
  double time(String sql) throws SQLException {
    long began = System.nanoTime();
    run(sql);
    return (System.nanoTime() - began) / 1e9;
  }

  /// The only value of a query's only row.
  long number(String sql) throws SQLException {
    try (Statement statement = connection.createStatement();
        ResultSet rows = statement.executeQuery(sql)) {
      if (!rows.next()) {
        throw new SQLException("no row of " + sql);
      }
      return rows.getLong(1);
    }
  }

  @Override
  public void close() throws SQLException {
    connection.close();
  }
}
