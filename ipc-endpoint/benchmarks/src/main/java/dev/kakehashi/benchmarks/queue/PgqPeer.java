package dev.kakehashi.benchmarks.queue;

import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;

/// PgQ 3.5: events by snapshots of a ticker, whole batches to one consumer name. Its consumers cooperate by sub-consumers; each of ours is
/// a name of its own only where more than one takes, so one consumer is measured.
final class PgqPeer implements QueuePeer {
  private final String url;

  PgqPeer(String url) {
    this.url = url;
  }

  @Override
  public String name() {
    return "PgQ, one consumer, ticks of 20 ms";
  }

  @Override
  public boolean skipLocked() {
    return false;
  }

  private Connection connect() throws SQLException {
    return DriverManager.getConnection(url);
  }

  @Override
  public void reset() throws SQLException {
    try (Connection connection = connect();
        Statement statement = connection.createStatement()) {
      statement.execute("CREATE EXTENSION IF NOT EXISTS pgq");
      statement.execute(
          "SELECT pgq.drop_queue('bench', true) FROM pgq.queue WHERE queue_name = 'bench'");
      statement.execute("SELECT pgq.create_queue('bench')");
      statement.execute("SELECT pgq.register_consumer('bench', 'c')");
      statement.execute("SELECT pgq.force_tick('bench')");
      statement.execute("SELECT pgq.ticker('bench')");
    }
  }

  @Override
  public Producer producer() throws SQLException {
    Connection connection = connect();
    PreparedStatement enqueue =
        connection.prepareStatement(
            "SELECT count(pgq.insert_event('bench', 't', ?)) FROM generate_series(1, ?)");
    return new Producer() {
      @Override
      public void enqueue(int count) throws SQLException {
        enqueue.setString(1, Long.toString(System.nanoTime()));
        enqueue.setInt(2, count);
        enqueue.executeQuery().close();
      }

      @Override
      public void close() {
        HeapPeer.quietly(connection);
      }
    };
  }

  @Override
  public Consumer consumer() throws SQLException {
    Connection connection = connect();
    Statement statement = connection.createStatement();
    return new Consumer() {
      @Override
      public int take(int max, Starts starts) throws Exception {
        for (int look = 0; look < 5; look++) {
          statement.execute("SELECT pgq.force_tick('bench')");
          statement.execute("SELECT pgq.ticker('bench')");
          long batch;
          try (ResultSet row = statement.executeQuery("SELECT pgq.next_batch('bench', 'c')")) {
            row.next();
            batch = row.getLong(1);
          }
          int events = 0;
          if (batch != 0) {
            try (ResultSet rows =
                statement.executeQuery("SELECT ev_data FROM pgq.get_batch_events(" + batch + ")")) {
              while (rows.next()) {
                events++;
                starts.started(Long.parseLong(rows.getString(1)));
              }
            }
            statement.execute("SELECT pgq.finish_batch(" + batch + ")");
          }
          if (events > 0) {
            return events;
          }
          // The time between two ticks.
          Thread.sleep(20);
        }
        return 0;
      }

      @Override
      public void close() {
        HeapPeer.quietly(connection);
      }
    };
  }
}
