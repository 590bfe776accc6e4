package dev.kakehashi.server.direct;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.kakehashi.client.AttachOptions;
import dev.kakehashi.client.EndpointException;
import dev.kakehashi.client.Parameters;
import dev.kakehashi.client.PreparedStatement;
import dev.kakehashi.client.Rows;
import dev.kakehashi.client.Session;
import dev.kakehashi.client.Transaction;
import dev.kakehashi.server.EndpointProcess;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLongArray;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/// Rows that are read directly while others change them, move them to other places, and change definitions: each is whole, its key's, no
/// older than what was read or acknowledged before, and there.
///
/// More by `-Dkakehashi.directReads=10000000`, of each reader; the same changes by `-Dkakehashi.seed=…`.
@Timeout(600)
class DirectReadStressTest {
  private static final long SEED = Long.getLong("kakehashi.seed", System.nanoTime());
  private static final long READS = Long.getLong("kakehashi.directReads", 100_000);
  private static final int READERS = 2;

  /// Even, and more than a page or a leaf has.
  private static final int ROWS = 3000;

  /// Rows that are changed more often than others.
  private static final int HOT_ROWS = 20;

  private static final String COLUMNS =
      "id int8 primary key, version int8, a int8, b numeric, c text, d text, e uuid";

  private final AtomicBoolean stop = new AtomicBoolean();

  /// Versions of rows that have been acknowledged, by key.
  private final AtomicLongArray acknowledged = new AtomicLongArray(ROWS);

  /// Columns that a row has besides its key and version.
  private static Object[] row(long id, long version) {
    long a = id * 1_000_003 + version;
    return new Object[] {
      id,
      version,
      a,
      java.math.BigDecimal.valueOf(-a, 2),
      "shared " + a % 5,
      version % 3 == 0
          ? null
          : "text of " + id + " in version " + version + "x".repeat((int) (a % 90)),
      new java.util.UUID(id, version)
    };
  }

  private static void check(Rows rows, long id, long least) {
    assertTrue(rows.next(), "there is no row " + id);
    long version = rows.getLong(1);
    if (version < least) {
      throw new AssertionError(
          "row " + id + " has version " + version + ", not as new as " + least);
    }
    Object[] expected = row(id, version);
    Object[] found = {
      rows.getLong(0),
      version,
      rows.getLong(2),
      rows.getBigDecimal(3),
      rows.getString(4),
      rows.isNull(5) ? null : rows.getString(5),
      rows.getUuid(6)
    };
    assertEquals(list(expected), list(found));
  }

  private static List<String> list(Object[] values) {
    List<String> list = new ArrayList<>();
    for (Object value : values) {
      list.add(String.valueOf(value));
    }
    return list;
  }

  private static int anyRow(Random random) {
    return random.nextInt(4) == 0 ? random.nextInt(ROWS) : random.nextInt(HOT_ROWS);
  }

  /// @return rows that were read without a request
  private long read(Session session, Random random) {
    long[] seen = new long[ROWS];
    try (PreparedStatement select = session.prepare("select * from t where id = $1")) {
      Parameters key = select.parameters();
      for (long i = 0; i < READS; i++) {
        int id = anyRow(random);
        // Before the read begins.
        long least = Math.max(seen[id], acknowledged.get(id));
        key.reset();
        try (Rows rows = session.query(select, key.addRow((long) id))) {
          check(rows, id, least);
          seen[id] = rows.getLong(1);
        }
      }
    }
    return session.directReads();
  }

  /// Changes pairs of rows, one of them of an even and one of an odd key: in place, or both are deleted and made again elsewhere.
  ///
  /// @param part of the pairs, that are this one's alone
  private long write(Session session, Random random, int part) {
    long changes = 0;
    long[] versions = new long[ROWS];
    try (PreparedStatement update =
            session.prepare(
                "update t set version = $2, a = $3, b = $4, c = $5, d = $6, e = $7 where id = $1");
        PreparedStatement delete = session.prepare("delete from t where id = $1");
        PreparedStatement insert =
            session.prepare("insert into t values ($1, $2, $3, $4, $5, $6, $7)")) {
      while (!stop.get()) {
        int first = anyRow(random) / 4 * 4 + 2 * part;
        try (Transaction transaction = session.begin()) {
          boolean isMoved = random.nextBoolean();
          for (int id = first; id < first + 2; id++) {
            Object[] row = row(id, versions[id] + 1);
            if (isMoved) {
              transaction.update(delete, delete.parameters().addRow((long) id));
              transaction.update(insert, insert.parameters().addRow(row));
            } else {
              assertEquals(1, transaction.update(update, update.parameters().addRow(row)));
            }
          }
          if (random.nextInt(8) == 0) {
            transaction.rollback();
            continue;
          }
          transaction.commit();
        }
        for (int id = first; id < first + 2; id++) {
          acknowledged.set(id, ++versions[id]);
        }
        changes++;
      }
    }
    return changes;
  }

  /// Tables come and go, whose memory others get; and the table that is read gets and loses an index and a column.
  private long define(Session session) {
    long changes = 0;
    while (!stop.get()) {
      session.execute("create table other (%s, unique (a, e))".formatted(COLUMNS));
      session.execute(
          "insert into other select g, 1, g, g, 'other', 'other', null from generate_series(1, 5000) g");
      session.execute("create index on t (a)");
      session.execute("drop table other");
      session.execute("drop index t_a_idx");
      changes += 5;
    }
    return changes;
  }

  @Test
  void shouldReadWholeRowsBesideWriters() throws Exception {
    System.out.println("-Dkakehashi.seed=" + SEED + " -Dkakehashi.directReads=" + READS);
    try (EndpointProcess endpoint = EndpointProcess.open();
        Session first = endpoint.attach();
        ExecutorService threads = Executors.newCachedThreadPool()) {
      first.execute("create table t (" + COLUMNS + ")");
      try (PreparedStatement insert =
          first.prepare("insert into t values ($1, $2, $3, $4, $5, $6, $7)")) {
        for (int id = 0; id < ROWS; id++) {
          first.update(insert, insert.parameters().addRow(row(id, 0)));
        }
      }
      List<Future<Long>> others = new ArrayList<>();
      List<Future<Long>> readers = new ArrayList<>();
      for (int i = 0; i < 2; i++) {
        int part = i;
        others.add(run(threads, endpoint, session -> write(session, random(part), part)));
      }
      others.add(run(threads, endpoint, this::define));
      for (int i = 0; i < READERS; i++) {
        int number = 2 + i;
        readers.add(run(threads, endpoint, session -> read(session, random(number))));
      }
      long direct = 0;
      try {
        for (Future<Long> reader : readers) {
          direct += reader.get();
        }
      } finally {
        stop.set(true);
      }
      List<Long> changes = new ArrayList<>();
      for (Future<Long> other : others) {
        changes.add(other.get());
      }
      System.out.printf(
          "%,d of %,d reads were direct; pairs changed and definitions: %s%n",
          direct, READERS * READS, changes);
      assertTrue(direct > 0 && changes.stream().allMatch(count -> count > 0));
    }
  }

  private static Random random(int number) {
    return new Random(SEED + number);
  }

  private interface Work {
    long with(Session session) throws EndpointException;
  }

  /// Runs something in a session of its own; whatever ends it ends the others.
  private Future<Long> run(ExecutorService threads, EndpointProcess endpoint, Work work) {
    Callable<Long> task =
        () -> {
          try (Session session = Session.attach(AttachOptions.of(endpoint.runtimeDirectory()))) {
            return work.with(session);
          } catch (Throwable e) {
            stop.set(true);
            throw e;
          }
        };
    return threads.submit(task);
  }
}
