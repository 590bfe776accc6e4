package dev.kakehashi.bulk.parquet;

import dev.kakehashi.bulk.format.FileFormat.Description;
import dev.kakehashi.bulk.format.RowsFile;
import dev.kakehashi.bulk.format.RowsOutput;
import dev.kakehashi.bulk.format.RowsPart;
import dev.kakehashi.bulk.parquet.page.ParquetOptions;
import dev.kakehashi.bulk.value.BudgetContext;
import dev.kakehashi.bulk.value.MemoryFile;
import dev.kakehashi.engine.api.bulk.LoadColumn;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;

/// Writes and reads whole files.
final class ParquetFiles {
  /// Ends a read at its first bad row.
  static final RowsPart.BadRows REFUSING =
      (origin, failure) -> {
        throw failure.withDetail("row " + origin.line());
      };

  static final long MEMORY = 256L << 20;

  private ParquetFiles() {}

  static MemoryFile write(
      List<LoadColumn> columns, ParquetOptions options, List<MemorySegment> batches) {
    MemoryFile file = new MemoryFile();
    BudgetContext context = new BudgetContext(4 * MEMORY);
    try (RowsOutput out =
        new ParquetFormat(options).write(file, columns, new Description("select 1"), context)) {
      batches.forEach(out::rows);
      out.end();
    }
    if (context.reserved() != 0) {
      throw new IllegalStateException(context.reserved() + " bytes did not come back");
    }
    return file;
  }

  /// All rows, in the form of [ParquetTable#dump]. A row that cannot be converted ends it.
  static List<String> read(MemoryFile file, List<LoadColumn> columns, ParquetOptions options) {
    BudgetContext context = new BudgetContext(MEMORY);
    List<String> rows = new ArrayList<>();
    try (RowsFile in = new ParquetFormat(options).read(file, columns, false, context)) {
      List<LoadColumn> there = new ArrayList<>();
      for (int column : in.columns()) {
        there.add(columns.get(column));
      }
      for (RowsPart part = in.next(); part != null; part = in.next()) {
        try (RowsPart open = part) {
          MemorySegment batch = open.next(REFUSING);
          while (batch != null) {
            rows.addAll(ParquetTable.dump(batch, there));
            batch = open.next(REFUSING);
          }
        }
      }
    }
    if (context.reserved() != 0) {
      throw new IllegalStateException(context.reserved() + " bytes did not come back");
    }
    return rows;
  }
}
