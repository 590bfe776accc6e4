package dev.kakehashi.tools.queue;

import dev.kakehashi.client.PreparedStatement;
import dev.kakehashi.client.ResultColumn;
import dev.kakehashi.client.Rows;
import dev.kakehashi.client.Session;
import dev.kakehashi.protocol.TypeOid;
import dev.kakehashi.protocol.value.PgInterval;
import java.io.PrintStream;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// Rows of a query on a terminal: as a table, or one below the other.
public final class PrintedRows {
  private final List<String> names = new ArrayList<>();
  private final List<List<String>> rows = new ArrayList<>();

  private PrintedRows() {}

  /// Runs a query.
  ///
  /// @param values of its parameters
  public static PrintedRows of(Session session, String sql, @Nullable Object... values) {
    PrintedRows table = new PrintedRows();
    try (PreparedStatement statement = session.prepare(sql);
        Rows result =
            values.length == 0
                ? session.query(statement)
                : session.query(statement, statement.parameters().addRow(values))) {
      for (ResultColumn column : result.columns()) {
        table.names.add(column.name());
      }
      while (result.next()) {
        List<String> row = new ArrayList<>(table.names.size());
        for (int i = 0; i < table.names.size(); i++) {
          row.add(result.isNull(i) ? "" : text(result, i));
        }
        table.rows.add(row);
      }
    }
    return table;
  }

  private static String text(Rows row, int column) {
    return switch (row.columns().get(column).typeOid()) {
      case TypeOid.BOOL -> row.getBoolean(column) ? "yes" : "no";
      case TypeOid.INT2, TypeOid.INT4 -> Integer.toString(row.getInt(column));
      case TypeOid.INT8 -> Long.toString(row.getLong(column));
      case TypeOid.FLOAT8 -> Double.toString(row.getDouble(column));
      case TypeOid.NUMERIC -> row.getBigDecimal(column).toPlainString();
      case TypeOid.TIMESTAMPTZ -> row.getTimestamptz(column).toString();
      case TypeOid.INTERVAL -> seconds(row.getInterval(column));
      case TypeOid.BYTEA -> "\\x" + HexFormat.of().formatHex(row.getBytes(column));
      default -> row.getString(column);
    };
  }

  private static String seconds(PgInterval interval) {
    long days = interval.months() * 30L + interval.days();
    return days * 86_400 + interval.micros() / 1_000_000 + "s";
  }

  public boolean isEmpty() {
    return rows.isEmpty();
  }

  /// Columns side by side, as wide as their longest value.
  public void print(PrintStream out) {
    List<Integer> widths = new ArrayList<>();
    for (int i = 0; i < names.size(); i++) {
      int width = names.get(i).length();
      for (List<String> row : rows) {
        width = Math.max(width, row.get(i).length());
      }
      widths.add(width);
    }
    print(out, names, widths);
    rows.forEach(row -> print(out, row, widths));
  }

  private static void print(PrintStream out, List<String> cells, List<Integer> widths) {
    StringBuilder line = new StringBuilder();
    for (int i = 0; i < cells.size(); i++) {
      line.append(i == 0 ? "" : "  ").append(cells.get(i));
      line.append(" ".repeat(widths.get(i) - cells.get(i).length()));
    }
    out.println(line.toString().stripTrailing());
  }

  /// The first value of the first row.
  public String value() {
    return rows.getFirst().getFirst();
  }

  /// The values of the first column, a line each.
  public void printValues(PrintStream out) {
    rows.forEach(row -> out.println(row.getFirst()));
  }

  /// A line for each value, with an empty line between rows.
  public void printDown(PrintStream out) {
    int width = names.stream().mapToInt(String::length).max().orElse(0);
    for (int r = 0; r < rows.size(); r++) {
      if (r > 0) {
        out.println();
      }
      for (int i = 0; i < names.size(); i++) {
        String name = names.get(i);
        out.println(
            (name + " ".repeat(width - name.length()) + "  " + rows.get(r).get(i)).stripTrailing());
      }
    }
  }
}
