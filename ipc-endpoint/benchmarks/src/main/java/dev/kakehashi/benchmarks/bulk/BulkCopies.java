package dev.kakehashi.benchmarks.bulk;

import dev.kakehashi.client.Bulk;
import dev.kakehashi.client.CopyCommand;
import dev.kakehashi.client.DumpOutcome;
import dev.kakehashi.client.Session;

/// The engine's loads and dumps of the benchmark's tables, in one session.
///
/// @param rows of the table `orders`
record BulkCopies(Session session, long rows) {
  private static final String LOCATION = "files:";

  static CopyCommand from(String table, String options) {
    return CopyCommand.into(table).option(options);
  }

  static CopyCommand to(String table, String options) {
    return CopyCommand.of(table).option(options).option("overwrite true");
  }

  static String place(String file) {
    return LOCATION + file;
  }

  /// Loads `orders` into the empty table `copies`.
  ///
  /// @return seconds
  /// @throws IllegalStateException if not all rows were loaded
  double load(String file, String options) {
    session.execute("TRUNCATE copies");
    return load("copies", file, options, rows);
  }

  double load(String table, String file, String options, long expected) {
    long began = System.nanoTime();
    long loaded = Bulk.of(session).load(from(table, options), place(file)).loaded();
    double seconds = secondsSince(began);
    if (loaded != expected) {
      throw new IllegalStateException("%d rows of %d".formatted(loaded, expected));
    }
    return seconds;
  }

  /// The store's own rate: the same rows out of another table of it.
  double insert() {
    session.execute("TRUNCATE copies");
    long began = System.nanoTime();
    long inserted = session.execute("INSERT INTO copies SELECT * FROM orders");
    double seconds = secondsSince(began);
    if (inserted != rows) {
      throw new IllegalStateException("%d rows of %d".formatted(inserted, rows));
    }
    return seconds;
  }

  double dump(String file, String options) {
    return dump("orders", file, options, rows);
  }

  double dump(String table, String file, String options, long expected) {
    long began = System.nanoTime();
    long dumped =
        Bulk.of(session).dump(to(table, options), place(file)).stream()
            .mapToLong(DumpOutcome::rows)
            .sum();
    double seconds = secondsSince(began);
    if (dumped != expected) {
      throw new IllegalStateException("%d rows of %d".formatted(dumped, expected));
    }
    return seconds;
  }

  static double secondsSince(long began) {
    return (System.nanoTime() - began) / 1e9;
  }
}
