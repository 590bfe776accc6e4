package dev.kakehashi.engine.statistics;

import dev.kakehashi.engine.catalog.Column;
import dev.kakehashi.engine.catalog.Table;
import dev.kakehashi.engine.store.api.ColumnKind;
import dev.kakehashi.engine.store.index.VarlenaLengths;
import dev.kakehashi.engine.type.Types;
import dev.kakehashi.engine.vector.ColumnVector;
import dev.kakehashi.engine.vector.VarHeap;
import dev.kakehashi.engine.vector.VectorBatch;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/// Rows of a table, column by column. Confined to one thread at a time.
final class TableSample implements AutoCloseable {
  /// Longer values are counted, and not kept: that two of them are equal is unlikely (as PostgreSQL's WIDTH_THRESHOLD).
  private static final int MAX_VALUE_BYTES = 1024;

  /// Longest value with a header of four bytes that has a short one on disk.
  private static final int MAX_SHORT_BYTES = 130;

  private final VarHeap heap = new VarHeap();
  private final List<Values> columns = new ArrayList<>();
  private int rows;

  /// Values of one column.
  static final class Values {
    final int oid;
    final ColumnKind kind;
    long[] words = new long[256];
    int count;
    int nulls;
    int tooWide;
    long bytes;

    Values(int oid) {
      this.oid = oid;
      this.kind = Types.kind(oid);
    }

    private void add(long word) {
      if (count == words.length) {
        words = Arrays.copyOf(words, 2 * count);
      }
      words[count++] = word;
    }
  }

  TableSample(Table table) {
    for (Column column : table.columns()) {
      columns.add(new Values(column.type().oid()));
    }
  }

  int rows() {
    return rows;
  }

  List<Values> columns() {
    return columns;
  }

  void add(VectorBatch batch) {
    for (int c = 0; c < columns.size(); c++) {
      add(columns.get(c), batch.columns[c], batch.size);
    }
    rows += batch.size;
  }

  private void add(Values values, ColumnVector vector, int count) {
    for (int row = 0; row < count; row++) {
      if (vector.isNull(row)) {
        values.nulls++;
      } else if (!values.kind.byReference()) {
        values.add(vector.words[row]);
      } else {
        long word = vector.words[row];
        int bytes = VarlenaLengths.bytes(values.kind, word);
        values.bytes += diskBytes(values.kind, bytes);
        if (bytes > MAX_VALUE_BYTES) {
          values.tooWide++;
        } else {
          values.add(heap.copy(word, bytes));
        }
      }
    }
  }

  /// Length of a value in a row of PostgreSQL, where a short one has a header of one byte.
  private static int diskBytes(ColumnKind kind, int bytes) {
    boolean fixed = kind == ColumnKind.UUID || kind == ColumnKind.INTERVAL;
    return fixed || bytes > MAX_SHORT_BYTES ? bytes : bytes - 3;
  }

  @Override
  public void close() {
    heap.close();
  }
}
