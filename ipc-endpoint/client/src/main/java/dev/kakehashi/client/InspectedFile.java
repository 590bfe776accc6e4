package dev.kakehashi.client;

import java.util.ArrayList;
import java.util.List;

/// One line of what is known of a file.
///
/// @param file as a location of the endpoint
/// @param kind `file`, `column`, `row group`, `statistics`, `create table`, `copy`
/// @param name of the column, number of the row group; empty otherwise
/// @param value text
public record InspectedFile(String file, String kind, String name, String value) {
  static List<InspectedFile> of(Rows rows) {
    List<InspectedFile> lines = new ArrayList<>();
    while (rows.next()) {
      lines.add(new InspectedFile(text(rows, 0), text(rows, 1), text(rows, 2), text(rows, 3)));
    }
    return lines;
  }

  private static String text(Rows rows, int column) {
    return rows.isNull(column) ? "" : rows.getString(column);
  }
}
