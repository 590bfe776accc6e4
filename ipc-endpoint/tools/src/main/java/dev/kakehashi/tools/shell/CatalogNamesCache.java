package dev.kakehashi.tools.shell;

import dev.kakehashi.client.EndpointException;
import dev.kakehashi.tools.shell.print.Cells;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// Names of tables, columns and queues, sorted, so that a completion is a search in an array. Read again after a while, between two statements. Used by the shell's thread.
final class CatalogNamesCache {
  private static final long FRESH_NANOS = 10_000_000_000L;

  private static final String NAMES =
      "SELECT table_name FROM kakehashi_catalog.columns UNION SELECT column_name FROM kakehashi_catalog.columns"
          + " UNION SELECT table_schema || '.' || table_name FROM kakehashi_catalog.columns WHERE table_schema <> 'public'"
          + " UNION SELECT queue_name FROM kakehashi_catalog.queues ORDER BY 1";

  private final Shell shell;
  private List<String> names = List.of();
  private long readAt;

  CatalogNamesCache(Shell shell) {
    this.shell = shell;
  }

  /// Names that begin with a text, at most so many.
  List<String> beginning(String text, int most) {
    refresh();
    int at = Collections.binarySearch(names, text);
    if (at < 0) {
      at = -at - 1;
    }
    int end = at;
    while (end < names.size() && end - at < most && names.get(end).startsWith(text)) {
      end++;
    }
    return names.subList(at, end);
  }

  private void refresh() {
    long now = System.nanoTime();
    if ((readAt != 0 && now - readAt < FRESH_NANOS) || shell.link.isInTransaction()) {
      return;
    }
    readAt = now;
    try {
      Cells cells = shell.statements().quietly(NAMES);
      List<String> found = new ArrayList<>(cells.rows().size());
      for (@Nullable String[] row : cells.rows()) {
        if (row[0] != null) {
          found.add(row[0]);
        }
      }
      Collections.sort(found);
      names = found;
    } catch (EndpointException unavailable) {
      // Completion goes on with what it has; the next statement says what is wrong.
    }
  }
}
