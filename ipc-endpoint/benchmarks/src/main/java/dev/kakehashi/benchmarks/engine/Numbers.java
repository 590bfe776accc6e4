package dev.kakehashi.benchmarks.engine;

import dev.kakehashi.client.InboundBuffers;
import dev.kakehashi.client.Parameters;
import dev.kakehashi.client.PreparedStatement;
import dev.kakehashi.client.Rows;
import dev.kakehashi.client.Session;
import dev.kakehashi.client.Transaction;
import dev.kakehashi.protocol.RowBatchWriter;

/// Tables of the shape `(id int8 PRIMARY KEY, grp int4, val int4)`, the same rows on both sides.
public final class Numbers {
  private static final int BATCH_BYTES = 1 << 20;

  private Numbers() {}

  public static String definition(String table) {
    return "CREATE TABLE " + table + " (id int8 PRIMARY KEY, grp int4, val int4)";
  }

  /// The rows as a query of PostgreSQL.
  public static String query(long rows) {
    return "SELECT i, i %% 10, i * 7919 %% 100000 FROM generate_series(1::int8, %d) i"
        .formatted(rows);
  }

  /// The rows from `first` to `last` into a table of the engine, in one transaction, by batches in shared memory.
  public static void load(Session session, String table, long first, long last) {
    int bytes = Math.min(BATCH_BYTES, session.limits().maxBatchBytes());
    InboundBuffers buffers = session.acquireBuffers(1, bytes);
    try (PreparedStatement insert =
            session.prepare("INSERT INTO " + table + " VALUES ($1, $2, $3)");
        Transaction transaction = session.begin()) {
      Parameters batch = buffers.parameters(0, insert, 0);
      long id = first;
      while (id <= last) {
        while (id <= last && add(batch.writer(), id)) {
          id++;
        }
        transaction.update(insert, batch);
        batch.reset();
      }
      transaction.commit();
    } finally {
      session.releaseBuffers();
    }
  }

  private static boolean add(RowBatchWriter writer, long id) {
    if (!writer.addRow()) {
      return false;
    }
    writer.setLong(0, id);
    writer.setLong(1, id % 10);
    writer.setLong(2, id * 7919 % 100000);
    return true;
  }

  /// Reads a result to its end.
  ///
  /// @return number of rows
  public static int drain(Rows result) {
    int rows = 0;
    try (result) {
      while (result.next()) {
        rows++;
      }
    }
    return rows;
  }
}
