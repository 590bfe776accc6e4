package dev.kakehashi.tools.tpch;

import dev.kakehashi.protocol.RowBatchWriter;
import io.trino.tpch.TpchEntity;
import java.math.BigDecimal;
import java.time.LocalDate;
import java.util.List;

/// Writes generated rows into row batches, in the types that [TableSpec#createTable(String)] declares.
final class TpchRowEncoder<E extends TpchEntity> {
  private final List<TableSpec.Column<E>> columns;

  TpchRowEncoder(TableSpec<E> table) {
    this.columns = table.columns();
  }

  /// Adds a row.
  ///
  /// @return false when it does not fit any more; the batch is as it was before then
  boolean add(E row, RowBatchWriter batch) {
    if (!batch.addRow()) {
      return false;
    }
    for (int i = 0; i < columns.size(); i++) {
      if (!set(columns.get(i), row, batch, i)) {
        batch.dropRow();
        return false;
      }
    }
    return true;
  }

  private boolean set(TableSpec.Column<E> column, E row, RowBatchWriter batch, int index) {
    switch (column.kind()) {
      case INT4, INT8 -> batch.setLong(index, column.integer(row));
      case DATE -> batch.setDate(index, LocalDate.ofEpochDay(column.integer(row)));
      case MONEY -> {
        return batch.setNumeric(index, BigDecimal.valueOf(column.integer(row), 2));
      }
      case VARCHAR -> {
        return batch.setString(index, column.source().getString(row));
      }
      // PostgreSQL's char(n) is blank-padded in memory, too.
      case CHARACTER -> {
        String text = column.source().getString(row);
        return batch.setString(index, text + " ".repeat(column.length() - text.length()));
      }
    }
    return true;
  }
}
