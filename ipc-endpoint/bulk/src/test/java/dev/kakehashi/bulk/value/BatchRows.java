package dev.kakehashi.bulk.value;

import dev.kakehashi.engine.api.bulk.LoadColumn;
import dev.kakehashi.protocol.RowBatchReader;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;

/// Values of row batches as text that is equal if, and only if, all bits are.
public final class BatchRows {
  private BatchRows() {}

  /// A text for each row.
  public static List<String> of(MemorySegment batch, List<LoadColumn> columns) {
    RowBatchReader reader = new RowBatchReader().wrap(batch);
    List<String> rows = new ArrayList<>();
    for (int row = 0; row < reader.rowCount(); row++) {
      StringBuilder text = new StringBuilder();
      for (int column = 0; column < columns.size(); column++) {
        text.append(value(batch, reader, row, column, columns.get(column).typeOid())).append('|');
      }
      rows.add(text.toString());
    }
    return rows;
  }

  private static String value(
      MemorySegment batch, RowBatchReader reader, int row, int column, int typeOid) {
    long word = reader.getWord(row, column);
    if (reader.isNull(row, column)) {
      return "null" + word;
    }
    int fixed = RowBatchReader.fixedBytes(typeOid);
    if (fixed < 0) {
      return Long.toString(word);
    }
    if (fixed == 0) {
      return HexFormat.of().formatHex(reader.getBytes(row, column));
    }
    return HexFormat.of().formatHex(batch.asSlice(word, fixed).toArray(ValueLayout.JAVA_BYTE));
  }
}
