package dev.kakehashi.tools.shell;

import dev.kakehashi.tools.shell.print.Cells;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;

/// Names of tables, columns, queues and settings, sorted, so that a completion is a search in an array. They are read again beside the
/// statements: no key waits for the endpoint. Thread-safe.
final class CatalogNamesCache implements SqlCompleter.Names {
  private static final long FRESH_NANOS = 10_000_000_000L;

  private static final String NAMES =
      "SELECT table_name FROM kakehashi_catalog.columns UNION SELECT column_name FROM kakehashi_catalog.columns"
          + " UNION SELECT table_schema || '.' || table_name FROM kakehashi_catalog.columns WHERE table_schema <> 'public'"
          + " UNION SELECT queue_name FROM kakehashi_catalog.queues";

  private final BesideWork beside;
  private final AtomicBoolean reading = new AtomicBoolean();
  private volatile String[] names = {};
  private volatile long readAt;

  /// Begins to read.
  CatalogNamesCache(BesideWork beside) {
    this.beside = beside;
    refresh();
  }

  @Override
  public List<String> beginning(String text, int most) {
    if (System.nanoTime() - readAt > FRESH_NANOS) {
      refresh();
    }
    return beginning(names, text, most);
  }

  /// @param sorted in the order of their characters
  static List<String> beginning(String[] sorted, String text, int most) {
    int at = Arrays.binarySearch(sorted, text);
    if (at < 0) {
      at = -at - 1;
    }
    int end = at;
    while (end < sorted.length && end - at < most && sorted[end].startsWith(text)) {
      end++;
    }
    return Arrays.asList(sorted).subList(at, end);
  }

  /// Begins to read them again; where that goes on already, it is done once more when somebody asks.
  void refresh() {
    readAt = System.nanoTime() - FRESH_NANOS - 1;
    if (reading.compareAndSet(false, true)) {
      beside.run(this::read);
    }
  }

  private void read() {
    readAt = System.nanoTime();
    try {
      @Nullable Cells cells = beside.ask(NAMES);
      if (cells != null) {
        List<String> found = new ArrayList<>(cells.rows().size());
        for (@Nullable String[] row : cells.rows()) {
          if (row[0] != null) {
            found.add(row[0]);
          }
        }
        Collections.sort(found);
        names = found.toArray(String[]::new);
      }
    } finally {
      reading.set(false);
    }
  }
}
