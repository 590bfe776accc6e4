package dev.kakehashi.tools.tpch;

import dev.kakehashi.client.InboundBuffers;
import dev.kakehashi.client.Parameters;
import dev.kakehashi.client.PreparedStatement;
import dev.kakehashi.client.Session;
import dev.kakehashi.client.Transaction;
import io.trino.tpch.TpchEntity;
import java.util.function.Function;

/// Makes and fills the tables on an endpoint, by batches of rows in shared memory. Used by one thread.
final class Loader {
  /// Bounds what the engine must keep for one transaction.
  private static final int ROWS_PER_TRANSACTION = 50_000;

  /// A batch big enough that the round trip does not count, small enough that several fit into a session's share.
  private static final int BUFFER_BYTES = 1 << 20;

  private final Session session;
  private final String schema;
  private final double scale;

  Loader(Session session, String schema, double scale) {
    this.session = session;
    this.schema = schema;
    this.scale = scale;
  }

  /// Makes the schema.
  void createSchema() {
    session.execute("CREATE SCHEMA IF NOT EXISTS " + schema);
  }

  /// Drops the table if it exists.
  void drop(TableSpec<?> table) {
    session.execute("DROP TABLE IF EXISTS " + schema + "." + table.name());
  }

  /// Makes and fills a table.
  ///
  /// @param progress makes the progress bar from the expected number of rows
  /// @return number of rows
  <E extends TpchEntity> long load(TableSpec<E> table, Function<Long, ProgressBar> progress) {
    session.execute(table.createTable(schema));
    ProgressBar bar = progress.apply(table.estimatedRows(scale));
    int bufferBytes = Math.min(BUFFER_BYTES, session.limits().maxBatchBytes());
    InboundBuffers buffers = session.acquireBuffers(1, bufferBytes);
    try (PreparedStatement insert = session.prepare(table.insert(schema))) {
      long rows = fill(table, insert, buffers.parameters(0, insert, table.meanHeapBytes()), bar);
      bar.finish(rows);
      return rows;
    } finally {
      session.releaseBuffers();
    }
  }

  private <E extends TpchEntity> long fill(
      TableSpec<E> table, PreparedStatement insert, Parameters batch, ProgressBar bar) {
    var encoder = new TpchRowEncoder<>(table);
    long sent = 0;
    long committed = 0;
    Transaction transaction = session.begin();
    try {
      for (E row : table.rows(scale)) {
        if (encoder.add(row, batch.writer())) {
          continue;
        }
        sent += send(transaction, insert, batch);
        bar.update(sent);
        if (sent - committed >= ROWS_PER_TRANSACTION) {
          transaction.commit();
          committed = sent;
          transaction = session.begin();
        }
        if (!encoder.add(row, batch.writer())) {
          throw new IllegalStateException(
              "one row of " + table.name() + " does not fit into an empty batch");
        }
      }
      sent += send(transaction, insert, batch);
      transaction.commit();
      return sent;
    } finally {
      transaction.close();
    }
  }

  private static long send(Transaction transaction, PreparedStatement insert, Parameters batch) {
    int rows = batch.rowCount();
    if (rows == 0) {
      return 0;
    }
    long inserted = transaction.update(insert, batch);
    if (inserted != rows) {
      throw new IllegalStateException(
          "the endpoint inserted " + inserted + " of " + rows + " rows");
    }
    batch.reset();
    return inserted;
  }
}
