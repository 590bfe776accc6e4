package dev.kakehashi.tools.training;

import dev.kakehashi.client.EndpointException;
import dev.kakehashi.client.Parameters;
import dev.kakehashi.client.PreparedStatement;
import dev.kakehashi.client.Rows;
import dev.kakehashi.client.Session;
import dev.kakehashi.client.Transaction;
import java.util.List;
import java.util.Random;

/// Statements of every kind over three small tables, in the shapes in which the foreign data wrapper sends them. Used by one
/// thread.
final class TrainingWorkload {
  private static final int ROWS = 50_000;
  private static final int GROUPS = 1_000;
  private static final int BATCH_ROWS = 1_000;

  private static final List<String> ANALYSES =
      List.of(
          "SELECT id, grp, val FROM training.rows",
          "SELECT id, val, price, name, made FROM training.rows WHERE val > 100 AND price < 90.5",
          "SELECT count(*), sum(val), avg(price), min(name), max(made) FROM training.rows",
          "SELECT grp, count(*), sum(val) FROM training.rows GROUP BY grp",
          "SELECT g.name, count(*), sum(r.val) FROM training.rows r JOIN training.groups g"
              + " ON r.grp = g.id GROUP BY g.name ORDER BY 2 DESC, 1 LIMIT 20",
          "SELECT id, val FROM training.rows ORDER BY val DESC, id LIMIT 10",
          "SELECT id FROM training.rows WHERE name LIKE 'name 1%' ORDER BY name LIMIT 100");

  private final Session session;
  private final Random random = new Random(20_261_121);

  TrainingWorkload(Session session) {
    this.session = session;
  }

  /// Definitions, and rows in batches.
  void createTables() {
    session.execute("CREATE SCHEMA training");
    session.execute(
        "CREATE TABLE training.rows (id int8 PRIMARY KEY, grp int4 NOT NULL, val int4,"
            + " price numeric(12,2), name text, made timestamp)");
    session.execute("CREATE INDEX rows_grp ON training.rows (grp)");
    session.execute("CREATE TABLE training.groups (id int4 PRIMARY KEY, name text)");
    session.execute("CREATE TABLE training.events (id int8 PRIMARY KEY, val int4)");
    try (PreparedStatement rows =
            session.prepare(
                "INSERT INTO training.rows (id, grp, val, price, name, made) VALUES ($1, $2, $3,"
                    + " $3 * 0.01, 'name ' || $3::text, timestamp '2026-01-01 00:00:00')");
        PreparedStatement groups =
            session.prepare("INSERT INTO training.groups (id, name) VALUES ($1, $2)")) {
      try (Transaction transaction = session.begin()) {
        Parameters batch = groups.parameters();
        for (int id = 0; id < GROUPS; id++) {
          batch.addRow(id, "group " + id % 50);
        }
        transaction.update(groups, batch);
        transaction.commit();
      }
      for (long first = 0; first < ROWS; first += BATCH_ROWS) {
        try (Transaction transaction = session.begin()) {
          Parameters batch = rows.parameters();
          for (long id = first; id < first + BATCH_ROWS; id++) {
            batch.addRow(id, (int) (id % GROUPS), (int) (id * 7919 % ROWS));
          }
          transaction.update(rows, batch);
          transaction.commit();
        }
      }
    }
    session.execute("ANALYZE");
  }

  /// Durable transactions of one row and of ten statements, with and without an explicit begin.
  void changeRows(int transactions) {
    try (PreparedStatement insert =
            session.prepare("INSERT INTO training.events (id, val) VALUES ($1, $2)");
        PreparedStatement update =
            session.prepare("UPDATE training.rows SET val = val + $2 WHERE id = $1");
        PreparedStatement delete = session.prepare("DELETE FROM training.events WHERE id = $1");
        PreparedStatement select = session.prepare("SELECT val FROM training.rows WHERE id = $1")) {
      for (int i = 0; i < transactions; i++) {
        long id = random.nextLong(1L << 40);
        commit(insert, insert.parameters().addRow(id, i));
        commit(update, update.parameters().addRow(random.nextLong(ROWS), 1));
        if (i % 4 == 0) {
          session.update(delete, delete.parameters().addRow(id));
        }
        if (i % 10 == 0) {
          try (Transaction transaction = session.begin()) {
            for (int statement = 0; statement < 5; statement++) {
              long key = random.nextLong(ROWS);
              int savepoint = transaction.savepoint();
              drain(transaction.query(select, select.parameters().addRow(key)));
              transaction.update(update, update.parameters().addRow(key, 1));
              transaction.releaseSavepoint(savepoint);
            }
            transaction.commit();
          }
        }
      }
    }
  }

  private void commit(PreparedStatement statement, Parameters parameters) {
    try (Transaction transaction = session.begin()) {
      transaction.update(statement, parameters);
      transaction.commit();
    }
  }

  /// Rows by key, by a second index and by range.
  void readRows(int queries) {
    try (PreparedStatement byKey =
            session.prepare("SELECT grp, val FROM training.rows WHERE id = $1");
        PreparedStatement byIndex =
            session.prepare("SELECT id, val FROM training.rows WHERE grp = $1");
        PreparedStatement range =
            session.prepare("SELECT id, val FROM training.rows WHERE id >= $1 AND id < $2")) {
      for (int i = 0; i < queries; i++) {
        drain(session.query(byKey, byKey.parameters().addRow(random.nextLong(ROWS))));
        if (i % 10 == 0) {
          drain(session.query(byIndex, byIndex.parameters().addRow(random.nextInt(GROUPS))));
          long first = random.nextLong(ROWS - 100);
          drain(session.query(range, range.parameters().addRow(first, first + 100)));
        }
      }
    }
  }

  /// Scans, groups, joins and orders.
  void analyse() {
    for (String query : ANALYSES) {
      try (PreparedStatement statement = session.prepare(query)) {
        for (int i = 0; i < 20; i++) {
          drain(session.query(statement));
        }
      }
    }
  }

  /// Transactions that end in an error or are taken back.
  void fail() {
    try (PreparedStatement insert =
        session.prepare("INSERT INTO training.groups (id, name) VALUES ($1, 'again')")) {
      for (int i = 0; i < 100; i++) {
        try (Transaction transaction = session.begin()) {
          transaction.update(insert, insert.parameters().addRow(GROUPS + i));
          transaction.rollback();
        }
        requireDuplicate(insert, i);
      }
    }
  }

  private void requireDuplicate(PreparedStatement insert, int id) {
    try {
      session.update(insert, insert.parameters().addRow(id));
    } catch (EndpointException expected) {
      if (expected.sqlstate().equals("23505")) {
        return;
      }
      throw expected;
    }
    throw new IllegalStateException("the key " + id + " was inserted twice");
  }

  private static void drain(Rows rows) {
    try (rows) {
      while (rows.nextBatch() != null) {
        // rows are for the endpoint's sake
      }
    }
  }
}
