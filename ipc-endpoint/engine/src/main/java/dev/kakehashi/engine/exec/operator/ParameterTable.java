package dev.kakehashi.engine.exec.operator;

import dev.kakehashi.engine.api.ParameterBatch;
import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.engine.expr.EvalContext;
import dev.kakehashi.engine.store.api.ColumnKind;
import dev.kakehashi.engine.vector.ColumnVector;
import dev.kakehashi.engine.vector.VarHeap;
import dev.kakehashi.engine.vector.VectorBatch;
import dev.kakehashi.protocol.ErrorCode;
import dev.kakehashi.protocol.RowBatchLayout;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/// Parameter rows, of one execution after another. By-reference values are copied out of the client's memory once, before they are used.
public final class ParameterTable implements AutoCloseable {
  private static final int FIXED_BYTES = 16;
  private static final int HEADER_BYTES = 4;
  private static final ValueLayout.OfLong LONG = ValueLayout.JAVA_LONG_UNALIGNED;
  private static final ValueLayout.OfInt INT = ValueLayout.JAVA_INT_UNALIGNED;

  private final ColumnKind[] kinds;
  private final int stride;
  private final int bitmapBytes;

  /// The client's; NULL between executions.
  private MemorySegment batch = MemorySegment.NULL;

  private int rowCount;
  private int rowsOffset;

  /// Heap of by-reference values; null: there are none so far.
  private @Nullable VarHeap heap;

  /// The row that was made a context's last, with the words it got there: other contexts share its values. -1: none.
  private int installedRow = -1;

  private long[] installedWords = {};
  private boolean[] installedNulls = {};

  public ParameterTable(ColumnKind[] kinds) {
    this.kinds = kinds;
    this.bitmapBytes = RowBatchLayout.bitmapBytes(kinds.length);
    this.stride = RowBatchLayout.rowStride(kinds.length);
  }

  /// Begins an execution.
  ///
  /// @throws EngineException UNDEFINED_PARAMETER if there are none
  void open(ParameterBatch parameters) {
    installedRow = -1;
    batch = parameters.batch();
    rowCount = parameters.rowCount();
    rowsOffset = rowCount == 0 ? 0 : batch.get(INT, RowBatchLayout.ROWS_OFFSET_OFFSET);
    if (kinds.length > 0 && rowCount == 0) {
      throw new EngineException(
          ErrorCode.UNDEFINED_PARAMETER, "there is no parameter $1: the statement was given none");
    }
  }

  /// Executions that were asked for: one per row, one without parameters.
  public int executions() {
    return kinds.length == 0 ? Math.max(1, rowCount) : rowCount;
  }

  public int rowCount() {
    return rowCount;
  }

  /// Makes row `row` the parameters of a context.
  void install(int row, EvalContext context) {
    int count = kinds.length;
    long[] words = context.parameters.length == count ? context.parameters : new long[count];
    boolean[] nulls =
        context.parameterNulls.length == count ? context.parameterNulls : new boolean[count];
    if (row == installedRow) {
      System.arraycopy(installedWords, 0, words, 0, count);
      System.arraycopy(installedNulls, 0, nulls, 0, count);
    } else {
      for (int i = 0; i < count; i++) {
        nulls[i] = isNull(row, i);
        words[i] = nulls[i] ? 0 : kinds[i].byReference() ? word(row, i, heap()) : word(row, i);
      }
      installedRow = row;
      installedWords = words;
      installedNulls = nulls;
    }
    context.setParameters(words, nulls);
  }

  /// Fills a batch with parameter rows from `first` on; values go to the batch's heap.
  public void read(int first, VectorBatch out) {
    int count = Math.min(rowCount - first, VectorBatch.CAPACITY);
    for (int c = 0; c < kinds.length; c++) {
      ColumnVector column = out.columns[c];
      for (int k = 0; k < count; k++) {
        if (isNull(first + k, c)) {
          column.setNull(k);
        } else {
          column.words[k] = word(first + k, c, out.heap);
        }
      }
    }
    out.size = count;
  }

  private boolean isNull(int row, int column) {
    long at = rowsOffset + (long) row * stride + 8L * (column >>> 6);
    return (batch.get(LONG, at) >>> (column & 63) & 1) != 0;
  }

  private VarHeap heap() {
    VarHeap present = heap;
    if (present == null) {
      present = new VarHeap();
      heap = present;
    }
    return present;
  }

  private long word(int row, int column) {
    return batch.get(LONG, rowsOffset + (long) row * stride + bitmapBytes + 8L * column);
  }

  private long word(int row, int column, VarHeap into) {
    long word = word(row, column);
    ColumnKind kind = kinds[column];
    if (!kind.byReference()) {
      return word;
    }
    long limit = batch.byteSize();
    if (word < 0 || word > limit - HEADER_BYTES) {
      throw malformed(column);
    }
    int header = batch.get(INT, word);
    boolean fixed = kind == ColumnKind.UUID || kind == ColumnKind.INTERVAL;
    int bytes = fixed ? FIXED_BYTES : header >>> 2;
    if (bytes < HEADER_BYTES || bytes > limit - word) {
      throw malformed(column);
    }
    long copy = into.allocate(bytes);
    MemorySegment.copy(batch, word, VarHeap.MEMORY, copy, bytes);
    if (!fixed) {
      // The client could have changed the length meanwhile: the one that was checked counts.
      VarHeap.MEMORY.set(ValueLayout.JAVA_INT, copy, bytes << 2);
    }
    return copy;
  }

  /// A parameter of type bytea of the first row, of a statement that has no plan.
  ///
  /// @param count of the statement's parameters
  /// @param column number of the parameter, from 0
  /// @throws EngineException UNDEFINED_PARAMETER, NULL_NOT_ALLOWED, LIMIT_EXCEEDED beyond `mostBytes`
  public static byte[] bytes(ParameterBatch parameters, int count, int column, long mostBytes) {
    ColumnKind[] kinds = new ColumnKind[count];
    Arrays.fill(kinds, ColumnKind.VARLENA);
    try (ParameterTable table = new ParameterTable(kinds)) {
      table.open(parameters);
      if (table.isNull(0, column)) {
        throw new EngineException(
            ErrorCode.NULL_VALUE_NOT_ALLOWED, "parameter $" + (column + 1) + " must not be null");
      }
      long word = table.word(0, column);
      long limit = parameters.batch().byteSize();
      if (word < 0 || word > limit - HEADER_BYTES) {
        throw malformed(column);
      }
      int length = (parameters.batch().get(INT, word) >>> 2) - HEADER_BYTES;
      if (length < 0 || length > limit - word - HEADER_BYTES) {
        throw malformed(column);
      }
      if (length > mostBytes) {
        throw new EngineException(
            ErrorCode.LIMIT_EXCEEDED,
            "parameter $%d may have at most %d bytes".formatted(column + 1, mostBytes));
      }
      return parameters.batch().asSlice(word + HEADER_BYTES, length).toArray(ValueLayout.JAVA_BYTE);
    }
  }

  private static EngineException malformed(int column) {
    return new EngineException(
        ErrorCode.MALFORMED_MESSAGE,
        "the value of parameter $" + (column + 1) + " leaves its row batch");
  }

  /// Ends the execution: its values are gone.
  @Override
  public void close() {
    installedRow = -1;
    batch = MemorySegment.NULL;
    rowCount = 0;
    if (heap != null) {
      heap.close();
      heap = null;
    }
  }
}
