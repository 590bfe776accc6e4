package dev.kakehashi.bulk.value;

import dev.kakehashi.bulk.format.RowOrigin;
import dev.kakehashi.bulk.format.RowsPart.BadRows;
import dev.kakehashi.bulk.value.FileType.Storage;
import dev.kakehashi.engine.api.bulk.BulkContext;
import dev.kakehashi.engine.api.bulk.LoadColumn;
import dev.kakehashi.engine.api.error.EngineException;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// Makes row batches of a few thousand rows of the decoded columns of a file. Not thread-safe.
public final class RowsFill implements AutoCloseable {
  private static final int MAX_ROWS = 4096;

  /// A batch ends before the row that would make it longer, unless it is the first one.
  private static final int TARGET_BYTES = 1 << 20;

  /// Bytes for a value on the heap beside its own bytes.
  private static final int VALUE_BYTES = 16;

  private final List<ColumnInput> inputs = new ArrayList<>();
  private final BatchFill batch;
  private final RowFailures failures = new RowFailures();
  private final int stride;
  private final int[] sources = new int[MAX_ROWS];
  private final long[] ends = new long[MAX_ROWS];
  private List<FileValues> values = List.of();
  private int from;
  private int taken;
  private long rowsBefore;

  /// @param types of the file's columns that are loaded
  /// @param columns that they go into, in the same order
  /// @throws EngineException DATATYPE_MISMATCH for a type that cannot be converted
  public RowsFill(
      List<FileType> types, List<LoadColumn> columns, ValueOptions options, BulkContext context) {
    try {
      for (int i = 0; i < columns.size(); i++) {
        inputs.add(ColumnInput.of(types.get(i), columns.get(i), options, context));
      }
    } catch (EngineException e) {
      inputs.forEach(ColumnInput::close);
      throw e;
    }
    this.batch = new BatchFill(columns.size(), context);
    this.stride = 8 * columns.size() + 8;
  }

  /// Converts some rows.
  ///
  /// @param decoded values of the columns; they have to stay until the next call, for the origins
  /// @param first row among them
  /// @param available rows from there on, at least 1
  /// @param before rows of the part before that row
  /// @return the batch of those rows that could be converted, until the next call; null: none could
  /// @throws EngineException that of `badRows`; OUT_OF_MEMORY
  public @Nullable MemorySegment next(
      List<FileValues> decoded, int first, int available, long before, BadRows badRows) {
    values = decoded;
    from = first;
    rowsBefore = before;
    taken = rowsThatFit(Math.min(available, MAX_ROWS));
    batch.begin(taken);
    failures.begin(taken);
    for (int i = 0; i < inputs.size(); i++) {
      inputs.get(i).put(decoded.get(i), first, taken, batch, i, failures);
    }
    if (failures.count() == 0) {
      for (int row = 0; row < taken; row++) {
        sources[row] = row;
      }
      return batch.finish();
    }
    int kept = 0;
    for (int row = 0; row < taken; row++) {
      EngineException failure = failures.of(row);
      if (failure == null) {
        sources[kept++] = row;
      } else {
        badRows.reject(originOf(row), failure);
      }
    }
    batch.drop(failures);
    return kept == 0 ? null : batch.finish();
  }

  /// Rows of the last call, those that could not be converted among them.
  public int taken() {
    return taken;
  }

  /// Where a row of the last batch comes from.
  public RowOrigin origin(int row) {
    return originOf(sources[row]);
  }

  private RowOrigin originOf(int row) {
    return new RowOrigin(rowsBefore + row + 1, false, -1, FileText.line(values, from + row));
  }

  private int rowsThatFit(int available) {
    int rows = available;
    java.util.Arrays.fill(ends, 0, rows, stride);
    for (FileValues column : values) {
      if (column.type().storage() == Storage.BYTES) {
        int[] lengths = column.lengths();
        for (int i = 0; i < rows; i++) {
          ends[i] += VALUE_BYTES + lengths[from + i];
        }
      } else if (column.type().storage() == Storage.LIST) {
        addLists(column, rows);
      }
    }
    long bytes = 0;
    for (int i = 0; i < rows; i++) {
      bytes += ends[i];
      if (bytes > TARGET_BYTES && i > 0) {
        return i;
      }
    }
    return rows;
  }

  private void addLists(FileValues column, int rows) {
    FileValues items = column.items();
    for (int i = 0; i < rows; i++) {
      int begin = column.starts()[from + i];
      int count = column.lengths()[from + i];
      ends[i] += (long) VALUE_BYTES * count;
      if (items.type().storage() == Storage.BYTES) {
        for (int item = begin; item < begin + count; item++) {
          ends[i] += items.lengths()[item];
        }
      }
    }
  }

  @Override
  public void close() {
    inputs.forEach(ColumnInput::close);
    batch.close();
  }
}
