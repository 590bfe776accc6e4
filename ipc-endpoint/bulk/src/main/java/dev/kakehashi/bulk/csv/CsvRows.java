package dev.kakehashi.bulk.csv;

import dev.kakehashi.bulk.csv.text.FileUtf8;
import dev.kakehashi.bulk.csv.text.TextBatch;
import dev.kakehashi.bulk.csv.text.TextColumn;
import dev.kakehashi.engine.api.bulk.BulkContext;
import dev.kakehashi.engine.api.bulk.LoadColumn;
import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.protocol.ErrorCode;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// Makes rows of a batch from bytes. It belongs to a file, and to one of its parts at a time. Not thread-safe.
final class CsvRows implements AutoCloseable {
  private final List<LoadColumn> columns;
  private final TextColumn[] readers;
  private final RowFields fields;
  private final LineEnd lineEnd;
  private final boolean setsNull;
  final TextBatch batch;

  /// By row and column of the batch, whether the value stands for the column's default.
  private final BitSet defaults = new BitSet();

  /// Where rows of the batch begin and end.
  final int[] begins;

  final int[] ends;

  CsvRows(CsvOptions options, LineEnd lineEnd, List<LoadColumn> columns, BulkContext context) {
    this.columns = columns;
    this.lineEnd = lineEnd;
    this.setsNull = options.setsNull();
    int count = columns.size();
    boolean[] neverNull = new boolean[count];
    boolean[] everNull = new boolean[count];
    for (int i = 0; i < count; i++) {
      neverNull[i] = options.forceNotNull().has(columns.get(i).name());
      everNull[i] = options.forceNull().has(columns.get(i).name());
    }
    fields = RowFields.of(options, lineEnd, count, neverNull, everNull, context);
    List<TextColumn> made = new ArrayList<>(count);
    boolean done = false;
    try {
      for (LoadColumn column : columns) {
        made.add(TextColumn.of(column, context));
      }
      batch = new TextBatch(count, context);
      done = true;
    } finally {
      if (!done) {
        made.forEach(TextColumn::close);
      }
    }
    readers = made.toArray(TextColumn[]::new);
    begins = new int[batch.maxRows()];
    ends = new int[batch.maxRows()];
  }

  LineEnd lineEnd() {
    return lineEnd;
  }

  void begin(byte[] data, int from, int to) {
    fields.begin(data, from, to);
  }

  /// Where the next row begins.
  int at() {
    return fields.at;
  }

  /// Reads the next row into the batch.
  ///
  /// @return why it is not there; null: it is
  @Nullable EngineException row() {
    int begin = fields.at;
    int count = fields.split();
    EngineException failure = fields.failure;
    if (failure == null && count != readers.length) {
      failure = wrongCount(count);
    }
    if (failure != null) {
      return failure;
    }
    int row = batch.rowCount();
    batch.addRow();
    begins[row] = begin;
    ends[row] = fields.at;
    int column = 0;
    while (true) {
      try {
        for (; column < readers.length; column++) {
          int flags = fields.flags[column];
          if (flags == 0) {
            readers[column].set(fields.data, fields.from[column], fields.to[column], batch, column);
          } else {
            special(column, flags);
          }
        }
        return null;
      } catch (EngineException e) {
        if (setsNull && isOfValue(e.code())) {
          batch.setNull(column++);
          continue;
        }
        return dropRow(e, column);
      }
    }
  }

  /// Whether a type has refused a text. Bytes that are no UTF-8 are a matter of the file.
  private static boolean isOfValue(ErrorCode code) {
    return code.sqlstate().startsWith("22") && code != ErrorCode.CHARACTER_NOT_IN_REPERTOIRE;
  }

  private EngineException dropRow(EngineException e, int column) {
    batch.dropRow();
    int first = batch.rowCount() * readers.length;
    defaults.clear(first, first + readers.length);
    if (e.code() == ErrorCode.OUT_OF_MEMORY || e.code() == ErrorCode.QUERY_CANCELED) {
      throw e;
    }
    return located(e, column);
  }

  /// Begins a batch.
  void reset() {
    batch.reset();
    defaults.clear();
  }

  private void markDefault(int column) {
    long bit = (long) (batch.rowCount() - 1) * readers.length + column;
    if (bit > Integer.MAX_VALUE) {
      throw new EngineException(ErrorCode.LIMIT_EXCEEDED, "too many columns with defaults");
    }
    defaults.set((int) bit);
  }

  boolean hasDefaults() {
    return !defaults.isEmpty();
  }

  boolean isDefault(int row, int column) {
    return defaults.get(row * readers.length + column);
  }

  private void special(int column, int flags) {
    if ((flags & RowFields.NULL) != 0) {
      batch.setNull(column);
    } else if ((flags & RowFields.DEFAULT) != 0) {
      batch.setNull(column);
      markDefault(column);
    } else {
      readers[column].set(fields.scratch, fields.from[column], fields.to[column], batch, column);
    }
  }

  private @Nullable EngineException wrongCount(int count) {
    if (count > readers.length) {
      // A row of no columns is an empty line.
      return readers.length == 0 && count == 1 && fields.from[0] == fields.to[0]
          ? null
          : RowFields.bad("extra data after last expected column");
    }
    return RowFields.bad("missing data for column \"%s\"".formatted(columns.get(count).name()));
  }

  private EngineException located(EngineException e, int column) {
    String name = columns.get(column).name();
    String value = FileUtf8.shown(fields.bytes(column), fields.from[column], fields.to[column]);
    String detail = "Column \"%s\" has the value \"%s\".".formatted(name, value);
    return e.withColumn(name).withDetail(e.detail().isEmpty() ? detail : e.detail() + " " + detail);
  }

  @Override
  public void close() {
    for (TextColumn reader : readers) {
      reader.close();
    }
    batch.close();
    fields.close();
  }
}
