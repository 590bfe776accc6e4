package dev.kakehashi.engine.testing;

import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;

/// Rows of PostgreSQL as the tests write those of the engine: values by their text form, `NULL` for null, with `|` between them.
public final class ResultText {
  private ResultText() {}

  /// The rows that are left, in their order.
  public static List<String> rows(ResultSet result) throws SQLException {
    int count = result.getMetaData().getColumnCount();
    List<String> rows = new ArrayList<>();
    while (result.next()) {
      StringBuilder row = new StringBuilder();
      for (int i = 1; i <= count; i++) {
        String value = result.getString(i);
        row.append(i == 1 ? "" : "|").append(value == null ? "NULL" : value);
      }
      rows.add(row.toString());
    }
    return rows;
  }
}
