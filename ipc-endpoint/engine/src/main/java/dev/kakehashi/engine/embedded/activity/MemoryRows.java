package dev.kakehashi.engine.embedded.activity;

import dev.kakehashi.engine.catalog.Table;
import dev.kakehashi.engine.store.api.Store;
import dev.kakehashi.engine.store.api.TableMemory;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// Rows of the system tables about the memory that tables and their columns take.
public final class MemoryRows {
  private static final double TENTHS = 10;

  private MemoryRows() {}

  public static List<@Nullable Object[]> ofTables(List<Table> tables, Store store) {
    List<@Nullable Object[]> rows = new ArrayList<>();
    for (Table table : tables) {
      TableMemory memory = memory(table, store);
      if (memory != null) {
        rows.add(
            new @Nullable Object[] {
              table.schema(),
              table.name(),
              memory.totalBytes(),
              memory.pageBytes(),
              memory.valueBytes(),
              memory.indexBytes(),
              ofRow(memory.totalBytes(), memory.rows())
            });
      }
    }
    return rows;
  }

  public static List<@Nullable Object[]> ofColumns(List<Table> tables, Store store) {
    List<@Nullable Object[]> rows = new ArrayList<>();
    for (Table table : tables) {
      TableMemory memory = memory(table, store);
      if (memory == null) {
        continue;
      }
      // The definition may have changed since.
      int columns = Math.min(memory.columns().size(), table.columns().size());
      for (int c = 0; c < columns; c++) {
        if (!table.columns().get(c).hidden()) {
          TableMemory.OfColumn column = memory.columns().get(c);
          rows.add(
              new @Nullable Object[] {
                table.schema(),
                table.name(),
                table.columns().get(c).name(),
                column.totalBytes(),
                column.pageBytes(),
                column.valueBytes(),
                ofRow(column.totalBytes(), memory.rows())
              });
        }
      }
    }
    return rows;
  }

  private static @Nullable TableMemory memory(Table table, Store store) {
    return table.isSystem() ? null : store.memoryOf(table.tableId());
  }

  /// Bytes a row, to a tenth; null: there are no rows.
  private static @Nullable Double ofRow(long bytes, long rows) {
    return rows == 0 ? null : Math.round(TENTHS * bytes / rows) / TENTHS;
  }
}
