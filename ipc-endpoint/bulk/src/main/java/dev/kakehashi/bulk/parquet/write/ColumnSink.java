package dev.kakehashi.bulk.parquet.write;

import dev.kakehashi.bulk.parquet.page.ParquetOptions;
import dev.kakehashi.bulk.parquet.page.ParquetOptions.Infinity;
import dev.kakehashi.bulk.parquet.thrift.Physical;
import dev.kakehashi.bulk.parquet.write.LeafForm.Kind;
import dev.kakehashi.engine.api.bulk.BulkContext;
import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.formats.BatchView;
import dev.kakehashi.formats.Output;
import dev.kakehashi.formats.PlainText;
import dev.kakehashi.protocol.ErrorCode;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/// Takes values of a column that is no array, or of the elements of one, from row batches: definition levels and the values that are there.
/// Not thread-safe.
final class ColumnSink implements AutoCloseable {
  /// PostgreSQL counts days from 2000-01-01, Parquet from 1970-01-01.
  private static final int EPOCH_DAYS = 10_957;

  private static final long EPOCH_MICROS = EPOCH_DAYS * 86_400_000_000L;
  private static final long DAY_MICROS = 86_400_000_000L;
  private static final int INTERVAL_BYTES = 16;
  private static final int INT_BYTES = 4;
  private final String name;
  private final LeafForm form;
  private final boolean nullsSpecials;

  /// 1: there.
  final Levels levels;

  /// One, or months, days and microseconds of an interval.
  final LeafValues[] leaves;

  private final Output text;

  ColumnSink(String name, LeafForm form, ParquetOptions options, BulkContext context) {
    this.name = name;
    this.form = form;
    this.nullsSpecials = options.infinity() == Infinity.NULL;
    this.levels = new Levels(1, false, context);
    if (form.kind() == Kind.INTERVAL) {
      leaves =
          new LeafValues[] {
            new LeafValues(Physical.INT32, 0, ValueOrder.SIGNED, context),
            new LeafValues(Physical.INT32, 0, ValueOrder.SIGNED, context),
            new LeafValues(Physical.INT64, 0, ValueOrder.SIGNED, context)
          };
    } else {
      leaves =
          new LeafValues[] {new LeafValues(form.physical(), form.width(), form.order(), context)};
    }
    ByteSpace bytes = leaves[0].bytes;
    this.text =
        form.kind() == Kind.TEXT
            ? new Output(
                new OutputStream() {
                  @Override
                  public void write(int value) {
                    bytes.put(value);
                  }

                  @Override
                  public void write(byte[] from, int start, int count) {
                    bytes.put(from, start, count);
                  }
                })
            : new Output(new ByteArrayOutputStream());
  }

  /// Takes rows `from` … `to - 1` of a column of a batch.
  ///
  /// @throws EngineException for a value that has no form in Parquet, with the column
  void append(BatchView view, int column, int from, int to) {
    int count = to - from;
    levels.need(count);
    for (LeafValues leaf : leaves) {
      leaf.need(count);
    }
    int next = levels.count;
    byte[] definitions = levels.definitions;
    long rowAt = view.rowAt(from);
    int stride = view.stride();
    for (int i = 0; i < count; i++) {
      definitions[next + i] = (byte) (view.isNull(rowAt, column) ? 0 : 1);
      rowAt += stride;
    }
    switch (form.kind()) {
      case BOOL, INT32, INT64, FLOAT, DOUBLE -> longs(view, column, from, count);
      case SHORT_DECIMAL, LONG_DECIMAL -> decimals(view, column, from, count);
      case UUID, BYTES -> pieces(view, column, from, count);
      case TEXT -> texts(view, column, from, count);
      case INTERVAL -> intervals(view, column, from, count);
    }
    levels.count += count;
  }

  private void longs(BatchView view, int column, int from, int count) {
    LeafValues leaf = leaves[0];
    byte[] definitions = levels.definitions;
    int at = levels.count;
    long[] target = leaf.longs;
    int next = leaf.count;
    long rowAt = view.rowAt(from);
    int stride = view.stride();
    for (int i = 0; i < count; i++) {
      target[next] = view.word(rowAt, column);
      next += definitions[at + i];
      rowAt += stride;
    }
    switch (form.form()) {
      case DATE ->
          next = shifted(leaf.count, next, Integer.MIN_VALUE, Integer.MAX_VALUE, EPOCH_DAYS);
      case TIMESTAMP, TIMESTAMPTZ ->
          next = shifted(leaf.count, next, Long.MIN_VALUE, Long.MAX_VALUE, EPOCH_MICROS);
      case TIME -> {
        for (int i = leaf.count; i < next; i++) {
          if (target[i] == DAY_MICROS) {
            next = withoutSpecials(leaf.count, next, DAY_MICROS, DAY_MICROS);
          }
        }
      }
      default -> {
        // The word is the value.
      }
    }
    leaf.count = next;
  }

  /// Moves values to another epoch.
  private int shifted(int from, int to, long lowest, long highest, long shift) {
    long[] values = leaves[0].longs;
    int end = to;
    for (int i = from; i < end; i++) {
      if (values[i] == lowest || values[i] == highest) {
        end = withoutSpecials(from, end, lowest, highest);
        break;
      }
    }
    long limit = highest - shift;
    for (int i = from; i < end; i++) {
      if (values[i] > limit) {
        throw refused(ErrorCode.DATETIME_OVERFLOW, "a time so far in the future has no form");
      }
      values[i] += shift;
    }
    return end;
  }

  /// Takes out values that Parquet does not have, if they are to be null.
  private int withoutSpecials(int from, int to, long lowest, long highest) {
    if (!nullsSpecials) {
      throw special();
    }
    long[] values = leaves[0].longs;
    int kept = from;
    int level = levels.count;
    for (int i = from; i < to; i++) {
      while (levels.definitions[level] == 0) {
        level++;
      }
      if (values[i] == lowest || values[i] == highest) {
        levels.definitions[level] = 0;
      } else {
        values[kept++] = values[i];
      }
      level++;
    }
    return kept;
  }

  private EngineException special() {
    return switch (form.form()) {
      case TIME -> refused(ErrorCode.DATETIME_OVERFLOW, "the time 24:00:00 has no form");
      case NUMERIC ->
          refused(ErrorCode.NUMERIC_VALUE_OUT_OF_RANGE, "NaN and the infinities have no form");
      default -> refused(ErrorCode.DATETIME_OVERFLOW, "infinity has no form");
    };
  }

  private EngineException refused(ErrorCode code, String what) {
    return new EngineException(
            code, what + " in a Parquet column of its type, in column \"" + name + "\"")
        .withColumn(name)
        .withHint("Choose infinity text or infinity null, or cast the column to text.");
  }

  private void decimals(BatchView view, int column, int from, int count) {
    LeafValues leaf = leaves[0];
    MemorySegment memory = view.memory();
    boolean isLong = form.kind() == Kind.SHORT_DECIMAL;
    int precision = form.precision();
    int scale = form.scale();
    int width = form.width();
    long rowAt = view.rowAt(from);
    int stride = view.stride();
    for (int i = 0; i < count; i++, rowAt += stride) {
      if (levels.definitions[levels.count + i] == 0) {
        continue;
      }
      long word = view.word(rowAt, column);
      long at = view.payloadAt(word);
      int length = view.payloadBytes(word);
      if (DecimalDigits.isSpecial(memory, at, length)) {
        if (!nullsSpecials) {
          throw special();
        }
        levels.definitions[levels.count + i] = 0;
        continue;
      }
      try {
        if (isLong) {
          leaf.longs[leaf.count++] = DecimalDigits.unscaled(memory, at, length, precision, scale);
        } else {
          DecimalDigits.put(leaf.bytes, memory, at, length, precision, scale, width);
          leaf.endPiece();
        }
      } catch (EngineException e) {
        throw e.withColumn(name);
      }
    }
  }

  private void pieces(BatchView view, int column, int from, int count) {
    LeafValues leaf = leaves[0];
    ByteSpace bytes = leaf.bytes;
    MemorySegment memory = view.memory();
    int fixed = form.kind() == Kind.UUID ? form.width() : 0;
    long rowAt = view.rowAt(from);
    int stride = view.stride();
    for (int i = 0; i < count; i++, rowAt += stride) {
      if (levels.definitions[levels.count + i] == 0) {
        continue;
      }
      long word = view.word(rowAt, column);
      long at = fixed > 0 ? view.fixedAt(word, fixed) : view.payloadAt(word);
      int length = fixed > 0 ? fixed : view.payloadBytes(word);
      bytes.need(length);
      MemorySegment.copy(memory, ValueLayout.JAVA_BYTE, at, bytes.bytes, bytes.length, length);
      bytes.length += length;
      leaf.endPiece();
    }
  }

  private void texts(BatchView view, int column, int from, int count) {
    LeafValues leaf = leaves[0];
    long rowAt = view.rowAt(from);
    int stride = view.stride();
    for (int i = 0; i < count; i++, rowAt += stride) {
      if (levels.definitions[levels.count + i] == 0) {
        continue;
      }
      try {
        PlainText.put(text, form.form(), view, view.word(rowAt, column));
        text.drain();
      } catch (IOException e) {
        // Memory does not fail so.
        throw new UncheckedIOException(e);
      }
      leaf.endPiece();
    }
  }

  private void intervals(BatchView view, int column, int from, int count) {
    MemorySegment memory = view.memory();
    long rowAt = view.rowAt(from);
    int stride = view.stride();
    for (int i = 0; i < count; i++, rowAt += stride) {
      if (levels.definitions[levels.count + i] == 0) {
        continue;
      }
      long at = view.fixedAt(view.word(rowAt, column), INTERVAL_BYTES);
      leaves[0].longs[leaves[0].count++] = memory.get(BatchView.I32, at + Long.BYTES + INT_BYTES);
      leaves[1].longs[leaves[1].count++] = memory.get(BatchView.I32, at + Long.BYTES);
      leaves[2].longs[leaves[2].count++] = memory.get(BatchView.I64, at);
    }
  }

  long heldBytes() {
    long held = levels.count;
    for (LeafValues leaf : leaves) {
      held += leaf.heldBytes();
    }
    return held;
  }

  void clear() {
    levels.clear();
    for (LeafValues leaf : leaves) {
      leaf.clear();
    }
  }

  /// Gives its memory back.
  @Override
  public void close() {
    levels.close();
    for (LeafValues leaf : leaves) {
      leaf.close();
    }
  }
}
