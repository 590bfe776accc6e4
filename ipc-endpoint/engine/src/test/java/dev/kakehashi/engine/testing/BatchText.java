package dev.kakehashi.engine.testing;

import dev.kakehashi.engine.api.Statement;
import dev.kakehashi.engine.type.Types;
import dev.kakehashi.engine.type.value.Values;
import dev.kakehashi.protocol.RowBatchReader;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;

/// Row batches as text.
public final class BatchText {
  private BatchText() {}

  /// All rows, columns as PostgreSQL prints them, separated by `|`; null is `NULL`.
  public static List<String> rows(List<Statement.Column> columns, List<RowBatchReader> batches) {
    List<String> rows = new ArrayList<>();
    for (RowBatchReader batch : batches) {
      if (batch.columnCount() != columns.size()) {
        throw new AssertionError(
            "batch has " + batch.columnCount() + " columns, not " + columns.size());
      }
      for (int row = 0; row < batch.rowCount(); row++) {
        StringBuilder text = new StringBuilder();
        for (int column = 0; column < columns.size(); column++) {
          text.append(column == 0 ? "" : "|");
          text.append(value(batch, row, column, columns.get(column).typeOid()));
        }
        rows.add(text.toString());
      }
    }
    return rows;
  }

  /// Rows of one batch in any memory, aligned to 8 bytes.
  public static List<String> rows(List<Statement.Column> columns, MemorySegment batch) {
    return rows(columns, List.of(new RowBatchReader().wrap(batch)));
  }

  private static String value(RowBatchReader batch, int row, int column, int oid) {
    if (batch.isNull(row, column)) {
      return "NULL";
    }
    long word = batch.getWord(row, column);
    return Values.toText(
        oid, Types.kind(oid).byReference() ? batch.memory().address() + word : word);
  }
}
