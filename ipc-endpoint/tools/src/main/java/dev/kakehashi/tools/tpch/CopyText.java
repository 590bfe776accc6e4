package dev.kakehashi.tools.tpch;

import io.trino.tpch.TpchEntity;
import java.io.IOException;
import java.io.Writer;
import java.time.LocalDate;
import java.util.List;

/// Writes rows in the text format of PostgreSQL's COPY. No value of TPC-H needs escaping: no tab, newline or backslash occurs.
final class CopyText {
  private CopyText() {}

  static <E extends TpchEntity> void write(TableSpec<E> table, double scale, Writer out)
      throws IOException {
    List<TableSpec.Column<E>> columns = table.columns();
    var line = new StringBuilder();
    for (E row : table.rows(scale)) {
      line.setLength(0);
      for (TableSpec.Column<E> column : columns) {
        if (!line.isEmpty()) {
          line.append('\t');
        }
        append(column, row, line);
      }
      out.append(line.append('\n'));
    }
  }

  private static <E extends TpchEntity> void append(
      TableSpec.Column<E> column, E row, StringBuilder line) {
    switch (column.kind()) {
      case INT4, INT8 -> line.append(column.integer(row));
      case MONEY -> {
        long cents = column.integer(row);
        line.append(cents < 0 ? "-" : "").append(Math.abs(cents) / 100).append('.');
        line.append(Math.abs(cents) % 100 < 10 ? "0" : "").append(Math.abs(cents) % 100);
      }
      case DATE -> line.append(LocalDate.ofEpochDay(column.integer(row)));
      case CHARACTER, VARCHAR -> line.append(column.source().getString(row));
    }
  }
}
