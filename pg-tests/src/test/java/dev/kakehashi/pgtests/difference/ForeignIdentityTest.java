package dev.kakehashi.pgtests.difference;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.kakehashi.pgtests.harness.Cluster;
import dev.kakehashi.pgtests.harness.Sql;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

/// Queries on foreign tables that must have the same rows have them: where the engine evaluates a condition and where PostgreSQL does, by
/// the three outcomes of a condition, and under other settings of the planner.
///
/// An identity runs alone by its seed: `-Dkakehashi.seed=<seed> -Dkakehashi.identities=1`.
class ForeignIdentityTest {
  private static final int IDENTITIES = Integer.getInteger("kakehashi.identities", 200);
  private static final long DATA_SEED = 20261129;
  private static final int MAX_SHOWN = 30;
  private static final int MAX_LENGTH = 1_000;

  /// Pairs of processes: while PostgreSQL plans for one session, the engine works for the other.
  private static final int SESSIONS = 2;

  @Test
  void shouldHaveTheSameRowsInEveryForm() throws SQLException {
    long seed = Long.getLong("kakehashi.seed", 1);
    System.out.println(
        "ForeignIdentityTest: -Dkakehashi.seed=" + seed + " -Dkakehashi.identities=" + IDENTITIES);
    try (Cluster cluster = Cluster.start("identity")) {
      fill(cluster);
      List<String> faults = new CopyOnWriteArrayList<>();
      AtomicInteger failing = new AtomicInteger();
      AtomicLong next = new AtomicLong(seed);
      List<CompletableFuture<Void>> sessions = new ArrayList<>();
      for (int i = 0; i < SESSIONS; i++) {
        sessions.add(
            CompletableFuture.runAsync(
                () -> checkAll(cluster, next, seed + IDENTITIES, faults, failing)));
      }
      sessions.forEach(CompletableFuture::join);
      assertEquals(List.of(), faults, "identities that are none; they are printed above");
      assertTrue(
          failing.get() <= IDENTITIES / 20 + 1, failing + " of " + IDENTITIES + " identities fail");
      cluster.endpoint().awaitQuiet(0);
    }
  }

  private static void fill(Cluster cluster) throws SQLException {
    for (String sql : Tables.onEngine()) {
      cluster.onEngine(sql);
    }
    try (Connection connection = cluster.connect()) {
      Sql.execute(connection, Tables.onPostgres().toArray(String[]::new));
    }
    for (String schema : List.of("heap", "remote")) {
      try (Side side = new Side(cluster, schema, DATA_SEED)) {
        side.fill();
      }
    }
  }

  private static Connection connect(Cluster cluster) throws SQLException {
    Connection connection = cluster.postgres().connect("preferQueryMode=simple");
    reset(connection);
    return connection;
  }

  private static void reset(Connection connection) throws SQLException {
    Sql.execute(
        connection,
        "RESET ALL; SET search_path = remote, public; SET timezone = 'Europe/Berlin'; SET statement_timeout = '5min'");
  }

  private static void checkAll(
      Cluster cluster, AtomicLong next, long end, List<String> faults, AtomicInteger failing) {
    try (Connection connection = connect(cluster)) {
      for (long seed = next.getAndIncrement();
          seed < end && faults.size() < MAX_SHOWN;
          seed = next.getAndIncrement()) {
        Identity identity = Identities.of(seed);
        String left = rows(connection, identity.left());
        reset(connection);
        String right = rows(connection, identity.right());
        reset(connection);
        if (isOfData(left) || isOfData(right)) {
          failing.incrementAndGet();
        } else if (!left.equals(right)) {
          String fault = identity + "\n  left:  " + shorten(left) + "\n  right: " + shorten(right);
          System.out.println(fault);
          faults.add(identity.name() + " of seed " + seed);
        } else if (left.startsWith(Answer.ERROR)) {
          failing.incrementAndGet();
          System.out.println("fails: " + identity + "\n  " + left);
        }
      }
    } catch (SQLException e) {
      throw new IllegalStateException(e);
    }
  }

  /// Whether a value has failed: SQL leaves open which conditions a row meets before.
  private static boolean isOfData(String rows) {
    return rows.startsWith(Answer.ERROR + "22");
  }

  private static String shorten(String text) {
    return text.length() > MAX_LENGTH ? text.substring(0, MAX_LENGTH) + " ..." : text;
  }

  /// All rows in an order of their own, or the SQLSTATE.
  private static String rows(Connection connection, Identity.Way way) throws SQLException {
    if (!way.settings().isEmpty()) {
      Sql.execute(connection, String.join(";", way.settings()));
    }
    return rowsOf(connection, way.queries());
  }

  private static String rowsOf(Connection connection, List<String> queries) {
    List<String> rows = new ArrayList<>();
    for (String query : queries) {
      try (Statement statement = connection.createStatement();
          ResultSet result = statement.executeQuery(query)) {
        int columns = result.getMetaData().getColumnCount();
        while (result.next()) {
          StringBuilder row = new StringBuilder();
          for (int i = 1; i <= columns; i++) {
            row.append(i > 1 ? "|" : "").append(result.getString(i));
          }
          rows.add(row.toString());
        }
      } catch (SQLException e) {
        return Answer.ERROR
            + e.getSQLState()
            + " "
            + String.valueOf(e.getMessage()).lines().findFirst().orElse("");
      }
    }
    rows.sort(null);
    return String.join("\n", rows);
  }
}
