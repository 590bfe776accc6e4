package dev.kakehashi.benchmarks.queue;

import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;

/// Queues that are tables of PostgreSQL's heap. The tables are those of the kinds' documentation; an idle consumer looks again after some
/// milliseconds.
final class HeapPeer implements QueuePeer {
  private static final long LOOK_AGAIN_MILLIS = 5;
  private static final int LOOKS = 20;

  private final Kind kind;
  private final String url;

  HeapPeer(Kind kind, String url) {
    this.kind = kind;
    this.url = url;
  }

  /// A kind of table.
  ///
  /// @param enqueue with the number of tasks and their payload as parameters
  /// @param take with the most tasks as its parameter; gives id and payload
  /// @param complete with the ids as its parameter; empty: taking has removed them
  /// @param waits whether `take` waits by itself
  record Kind(
      String name,
      boolean skipLocked,
      List<String> reset,
      String enqueue,
      String take,
      String complete,
      boolean waits) {
    /// The simplest: taken and deleted in one transaction.
    static Kind deleting() {
      return new Kind(
          "SKIP LOCKED, deleted in the transaction",
          true,
          table("q_deleting", ""),
          "INSERT INTO q_deleting (payload) SELECT $2 FROM generate_series(1, $1)",
          "DELETE FROM q_deleting WHERE id IN (SELECT id FROM q_deleting ORDER BY id LIMIT $1 FOR UPDATE SKIP LOCKED)"
              + " RETURNING id, payload",
          "",
          false);
    }

    /// With a state, so that a consumer may die.
    static Kind stateful() {
      return new Kind(
          "SKIP LOCKED, with a state",
          true,
          table("q_stateful", ", state int NOT NULL DEFAULT 0, attempt int NOT NULL DEFAULT 0"),
          "INSERT INTO q_stateful (payload) SELECT $2 FROM generate_series(1, $1)",
          "UPDATE q_stateful SET state = 1, attempt = attempt + 1 WHERE id IN"
              + " (SELECT id FROM q_stateful WHERE state = 0 ORDER BY id LIMIT $1 FOR UPDATE SKIP LOCKED)"
              + " RETURNING id, payload",
          "DELETE FROM q_stateful WHERE id = ANY($1)",
          false);
    }

    /// The shape that pgmq documents: a visibility time and a read count, read by UPDATE, then deleted by id.
    static Kind visibility() {
      return new Kind(
          "pgmq's shape",
          true,
          List.of(
              "DROP TABLE IF EXISTS q_visible",
              "CREATE TABLE q_visible (msg_id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, read_ct int NOT NULL DEFAULT 0,"
                  + " enqueued_at timestamptz NOT NULL DEFAULT now(), vt timestamptz NOT NULL, message jsonb)",
              "CREATE INDEX ON q_visible (vt)"),
          "INSERT INTO q_visible (vt, message) SELECT clock_timestamp(), to_jsonb($2::text) FROM generate_series(1, $1)",
          "WITH taken AS (SELECT msg_id FROM q_visible WHERE vt <= clock_timestamp() ORDER BY msg_id LIMIT $1 FOR UPDATE SKIP LOCKED)"
              + " UPDATE q_visible q SET vt = clock_timestamp() + interval '30 s', read_ct = read_ct + 1 FROM taken"
              + " WHERE q.msg_id = taken.msg_id RETURNING q.msg_id, q.message #>> '{}'",
          "DELETE FROM q_visible WHERE msg_id = ANY($1)",
          false);
    }

    private static List<String> table(String name, String more) {
      return List.of(
          "DROP TABLE IF EXISTS " + name,
          "CREATE TABLE "
              + name
              + " (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, payload text NOT NULL"
              + more
              + ")",
          more.isEmpty() ? "ANALYZE " + name : "CREATE INDEX ON " + name + " (id) WHERE state = 0");
    }
  }

  @Override
  public String name() {
    return kind.name();
  }

  @Override
  public boolean skipLocked() {
    return kind.skipLocked();
  }

  private Connection connect() throws SQLException {
    return DriverManager.getConnection(url);
  }

  @Override
  public void reset() throws SQLException {
    try (Connection connection = connect();
        Statement statement = connection.createStatement()) {
      for (String sql : kind.reset()) {
        statement.execute(sql);
      }
    }
  }

  @Override
  public Producer producer() throws SQLException {
    Connection connection = connect();
    PreparedStatement enqueue = connection.prepareStatement(numbered(kind.enqueue()));
    return new Producer() {
      @Override
      public void enqueue(int count) throws SQLException {
        bind(enqueue, kind.enqueue(), count, Long.toString(System.nanoTime()));
        enqueue.executeUpdate();
      }

      @Override
      public void close() {
        quietly(connection);
      }
    };
  }

  @Override
  public Consumer consumer() throws SQLException {
    Connection connection = connect();
    PreparedStatement take = connection.prepareStatement(numbered(kind.take()));
    PreparedStatement complete =
        kind.complete().isEmpty() ? null : connection.prepareStatement(numbered(kind.complete()));
    return new Consumer() {
      @Override
      public int take(int max, Starts starts) throws Exception {
        for (int look = 0; look < LOOKS; look++) {
          List<Long> ids = new ArrayList<>();
          take.setInt(1, max);
          try (ResultSet rows = take.executeQuery()) {
            while (rows.next()) {
              ids.add(rows.getLong(1));
              starts.started(Long.parseLong(rows.getString(2)));
            }
          }
          if (!ids.isEmpty()) {
            if (complete != null) {
              complete.setArray(1, connection.createArrayOf("int8", ids.toArray()));
              complete.executeUpdate();
            }
            return ids.size();
          }
          // A table wakes nobody: who polls it looks again after a while.
          Thread.sleep(LOOK_AGAIN_MILLIS);
        }
        return 0;
      }

      @Override
      public void close() {
        quietly(connection);
      }
    };
  }

  /// Parameters of PostgreSQL as those of JDBC.
  private static String numbered(String sql) {
    return sql.replaceAll("\\$\\d", "?");
  }

  /// Each parameter in the order in which the statement has it.
  private static void bind(PreparedStatement statement, String sql, int count, String payload)
      throws SQLException {
    boolean payloadFirst = sql.indexOf("$2") < sql.indexOf("$1");
    statement.setString(payloadFirst ? 1 : 2, payload);
    statement.setInt(payloadFirst ? 2 : 1, count);
  }

  static void quietly(AutoCloseable closeable) {
    try {
      closeable.close();
    } catch (Exception e) {
      throw new IllegalStateException(e);
    }
  }
}
