package dev.kakehashi.console.page;

import dev.kakehashi.console.html.Html;
import dev.kakehashi.rest.sql.TextResult;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/// One row of a result, by the names of its columns. Immutable.
record PageRow(TextResult result, @Nullable String[] row) {
  private static final long KILO = 1024;

  /// The only row.
  static PageRow first(TextResult result) {
    return new PageRow(result, result.rows().getFirst());
  }

  /// Null: SQL's null.
  @Nullable String get(String column) {
    return row[result.column(column)];
  }

  /// Empty: SQL's null.
  String text(String column) {
    String value = get(column);
    return value == null ? "" : value;
  }

  boolean isTrue(String column) {
    return "t".equals(get(column));
  }

  /// 0: SQL's null.
  long number(String column) {
    String value = get(column);
    return value == null || value.isEmpty() ? 0 : (long) Double.parseDouble(value);
  }

  /// A cell with the value of a column.
  Html cell(String column) {
    int at = result.column(column);
    return dev.kakehashi.console.html.Grid.cell(row[at], result.columns().get(at).isNumber());
  }

  /// Bytes as people read them: 1.5 GB.
  static String bytes(long bytes) {
    String[] units = {"B", "kB", "MB", "GB", "TB", "PB"};
    double value = bytes;
    int unit = 0;
    while (value >= KILO && unit < units.length - 1) {
      value /= KILO;
      unit++;
    }
    return unit == 0 || value >= 100
        ? Math.round(value) + " " + units[unit]
        : String.format(Locale.ROOT, "%.1f %s", value, units[unit]);
  }

  /// Bytes of a column; –: SQL's null.
  String bytes(String column) {
    return get(column) == null ? "–" : bytes(number(column));
  }

  /// An interval in whole seconds' precision; –: SQL's null.
  String age(String column) {
    String value = get(column);
    if (value == null) {
      return "–";
    }
    int point = value.lastIndexOf('.');
    return point < 0 ? value : value.substring(0, Math.min(value.length(), point + 2));
  }
}
