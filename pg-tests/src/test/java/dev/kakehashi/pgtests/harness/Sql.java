package dev.kakehashi.pgtests.harness;

import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.junit.jupiter.api.Assertions;

/// Short forms of JDBC for tests.
public final class Sql {
  private Sql() {}

  /// Runs statements one after another, their results ignored.
  public static void execute(Connection connection, String... statements) throws SQLException {
    try (var statement = connection.createStatement()) {
      for (String sql : statements) {
        statement.execute(sql);
      }
    }
  }

  /// All rows, columns separated by bars, null as "null".
  public static List<String> rows(Connection connection, String sql) throws SQLException {
    try (var statement = connection.createStatement();
        var result = statement.executeQuery(sql)) {
      var rows = new ArrayList<String>();
      int columns = result.getMetaData().getColumnCount();
      while (result.next()) {
        var row = new StringBuilder();
        for (int i = 1; i <= columns; i++) {
          row.append(i > 1 ? "|" : "").append(result.getString(i));
        }
        rows.add(row.toString());
      }
      return rows;
    }
  }

  /// The only row, or the rows on lines of their own.
  public static String value(Connection connection, String sql) throws SQLException {
    return String.join("\n", rows(connection, sql));
  }

  /// Runs a statement that must fail.
  ///
  /// @return the failure
  public static SQLException failure(Connection connection, String sql) {
    return Assertions.assertThrows(SQLException.class, () -> execute(connection, sql), sql);
  }

  /// Cancels a statement again and again until what runs it has ended: PostgreSQL forgets a cancel that arrives before its
  /// statement, as the first one may on a busy machine.
  public static void cancelUntilDone(Statement statement, Future<?> running, Duration limit)
      throws SQLException, InterruptedException, ExecutionException {
    long deadline = System.nanoTime() + limit.toNanos();
    while (!running.isDone() && System.nanoTime() - deadline < 0) {
      statement.cancel();
      try {
        running.get(1, TimeUnit.SECONDS);
      } catch (TimeoutException e) {
        // once more
      }
    }
  }

  /// A random generator whose seed is printed, or given by the system property `kakehashi.seed`.
  public static Random seededRandom(String test) {
    long seed = Long.getLong("kakehashi.seed", System.nanoTime());
    System.out.println(test + ": -Dkakehashi.seed=" + seed);
    return new Random(seed);
  }
}
