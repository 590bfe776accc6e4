package dev.kakehashi.benchmarks.queue;

import dev.kakehashi.client.AttachOptions;
import dev.kakehashi.client.Parameters;
import dev.kakehashi.client.PreparedStatement;
import dev.kakehashi.client.Rows;
import dev.kakehashi.client.Session;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/// The endpoint's queue through the Java client and SQL, a session for each producer and consumer.
final class KakehashiPeer implements QueuePeer {
  private final AttachOptions options;
  private final String queueOptions;
  private final String more;

  /// @param queueOptions of CREATE QUEUE, with its WITH; may be empty
  /// @param more named arguments of `enqueue`, after a comma; `:number` is the task's
  KakehashiPeer(Path runtimeDirectory, String queueOptions, String more) {
    this.options = AttachOptions.of(runtimeDirectory).withApplicationName("queue benchmark");
    this.queueOptions = queueOptions;
    this.more = more;
  }

  KakehashiPeer(Path runtimeDirectory) {
    this(runtimeDirectory, "", "");
  }

  @Override
  public String name() {
    return "Kakehashi";
  }

  @Override
  public boolean skipLocked() {
    return false;
  }

  @Override
  public void reset() {
    try (Session session = Session.attach(options)) {
      session.execute("DROP QUEUE IF EXISTS bench");
      session.execute("CREATE QUEUE bench " + queueOptions);
    }
  }

  @Override
  public Producer producer() {
    Session session = Session.attach(options);
    PreparedStatement one =
        session.prepare(
            "SELECT enqueue('bench', to_jsonb($1::int8)" + more.replace(":number", "$1") + ")");
    PreparedStatement many =
        session.prepare(
            "SELECT count(enqueue('bench', to_jsonb($1::int8)"
                + more.replace(":number", "i")
                + ")) FROM generate_series(1, $2::int4) i");
    return new Producer() {
      @Override
      public void enqueue(int count) {
        PreparedStatement statement = count == 1 ? one : many;
        Parameters parameters = statement.parameters();
        if (count == 1) {
          parameters.addRow(System.nanoTime());
        } else {
          parameters.addRow(System.nanoTime(), count);
        }
        try (Rows rows = session.query(statement, parameters)) {
          rows.next();
        }
      }

      @Override
      public void close() {
        session.close();
      }
    };
  }

  @Override
  public Consumer consumer() {
    Session session = Session.attach(options);
    PreparedStatement take =
        session.prepare(
            "SELECT token, payload::text FROM complete_and_receive($1::text[], 'bench', max => $2::int4, wait => '100 ms')");
    return new Consumer() {
      private final List<String> done = new ArrayList<>();

      @Override
      public int take(int max, Starts starts) {
        Parameters parameters = take.parameters();
        parameters.addRow("{" + String.join(",", done) + "}", max);
        int completed = done.size();
        try (Rows rows = session.query(take, parameters)) {
          done.clear();
          while (rows.next()) {
            done.add(rows.getString(0));
            starts.started(Long.parseLong(rows.getString(1)));
          }
        }
        return completed;
      }

      @Override
      public void close() {
        session.close();
      }
    };
  }
}
