package dev.kakehashi.benchmarks;

import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;

/// DuckDB in this process. Its driver is on the class path of the benchmark alone.
public final class DuckDb implements AutoCloseable {
  private final Connection connection;

  private DuckDb(String database) throws SQLException {
    connection = DriverManager.getConnection("jdbc:duckdb:" + database);
  }

  /// With a database file.
  public static DuckDb of(Path file) throws SQLException {
    return new DuckDb(file.toString());
  }

  /// With all rows in memory.
  public static DuckDb inMemory() throws SQLException {
    return new DuckDb("");
  }

  /// Runs statements; each commits.
  public void run(String... statements) throws SQLException {
    try (Statement statement = connection.createStatement()) {
      for (String sql : statements) {
        statement.execute(sql);
      }
    }
  }

  /// Seconds of a statement.
  public double time(String sql) throws SQLException {
    long began = System.nanoTime();
    run(sql);
    return (System.nanoTime() - began) / 1e9;
  }

  /// Reads a result to its end.
  ///
  /// @return number of rows
  public long drain(String sql) throws SQLException {
    long count = 0;
    try (Statement statement = connection.createStatement();
        ResultSet rows = statement.executeQuery(sql)) {
      while (rows.next()) {
        count++;
      }
    }
    return count;
  }

  /// The only value of a query's only row.
  public long number(String sql) throws SQLException {
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
