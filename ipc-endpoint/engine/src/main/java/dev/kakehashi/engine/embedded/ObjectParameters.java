package dev.kakehashi.engine.embedded;

import dev.kakehashi.engine.api.ParameterBatch;
import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.engine.sql.algebra.Constant;
import dev.kakehashi.engine.type.Types;
import dev.kakehashi.engine.type.application.JavaValues;
import dev.kakehashi.engine.vector.VarHeap;
import dev.kakehashi.protocol.ErrorCode;
import dev.kakehashi.protocol.RowBatchLayout;
import dev.kakehashi.protocol.TypeOid;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.math.BigDecimal;
import org.jspecify.annotations.Nullable;

/// Objects as the parameters of one execution: a row batch in native memory, valid until it is closed. Used by one thread, but the batch by
/// any.
final class ObjectParameters implements AutoCloseable {
  private static final ValueLayout.OfInt INT = ValueLayout.JAVA_INT_UNALIGNED;
  private static final ValueLayout.OfLong LONG = ValueLayout.JAVA_LONG_UNALIGNED;

  private final VarHeap heap = new VarHeap();
  private final ParameterBatch batch;

  /// @param oids types of the parameters
  /// @throws EngineException UNDEFINED_PARAMETER for another number of values, DATATYPE_MISMATCH, and what values do not fit their types
  ObjectParameters(int[] oids, @Nullable Object[] values) {
    boolean made = false;
    try {
      batch = oids.length == 0 && values.length == 0 ? ParameterBatch.NONE : make(oids, values);
      made = true;
    } finally {
      if (!made) {
        heap.close();
      }
    }
  }

  ParameterBatch batch() {
    return batch;
  }

  private ParameterBatch make(int[] oids, @Nullable Object[] values) {
    if (values.length != oids.length) {
      throw new EngineException(
          ErrorCode.UNDEFINED_PARAMETER,
          "the statement has %d parameters, and was given %d"
              .formatted(oids.length, values.length));
    }
    long[] words = new long[oids.length];
    int[] lengths = new int[oids.length];
    int base = RowBatchLayout.HEADER_BYTES;
    int stride = RowBatchLayout.rowStride(oids.length);
    long bytes = (long) base + stride;
    for (int i = 0; i < oids.length; i++) {
      Object value = values[i];
      if (value == null) {
        continue;
      }
      words[i] = JavaValues.ofObject(oids[i], widened(oids[i], value), heap);
      if (Types.kind(oids[i]).byReference()) {
        lengths[i] = Math.toIntExact(Constant.byteLength(Types.kind(oids[i]), words[i]));
        bytes += (lengths[i] + 7L) & ~7L;
      }
    }
    if (bytes > Integer.MAX_VALUE) {
      throw new EngineException(ErrorCode.LIMIT_EXCEEDED, "parameters of more than 2 GB");
    }
    MemorySegment to = VarHeap.MEMORY.asSlice(heap.allocate(bytes), bytes);
    long heapAt = (long) base + stride;
    to.asSlice(0, heapAt).fill((byte) 0);
    to.set(INT, RowBatchLayout.BATCH_BYTES_OFFSET, (int) bytes);
    to.set(INT, RowBatchLayout.ROW_COUNT_OFFSET, 1);
    to.set(INT, RowBatchLayout.COLUMN_COUNT_OFFSET, oids.length);
    to.set(INT, RowBatchLayout.ROW_STRIDE_OFFSET, stride);
    to.set(INT, RowBatchLayout.ROWS_OFFSET_OFFSET, base);
    to.set(INT, RowBatchLayout.HEAP_OFFSET_OFFSET, (int) heapAt);
    int wordsAt = base + RowBatchLayout.bitmapBytes(oids.length);
    for (int i = 0; i < oids.length; i++) {
      if (values[i] == null) {
        long at = base + 8L * (i >>> 6);
        to.set(LONG, at, to.get(LONG, at) | 1L << (i & 63));
        continue;
      }
      long word = words[i];
      if (lengths[i] > 0) {
        MemorySegment.copy(VarHeap.MEMORY, words[i], to, heapAt, lengths[i]);
        word = heapAt;
        heapAt += (lengths[i] + 7L) & ~7L;
      }
      to.set(LONG, wordsAt + 8L * i, word);
    }
    return new ParameterBatch(to, 1);
  }

  /// The value as the class of a type, where no information is lost: an integer for a larger one, as an assignment in Java or SQL takes it.
  static Object widened(int oid, Object value) {
    return switch (oid) {
      case TypeOid.INT2 ->
          value instanceof Integer i && (short) (int) i == i
              ? (Object) (short) (int) i
              : value instanceof Long l && (short) (long) l == l ? (short) (long) l : value;
      case TypeOid.INT4 ->
          value instanceof Short s
              ? (Object) (int) s
              : value instanceof Long l && (int) (long) l == l ? (int) (long) l : value;
      case TypeOid.INT8 ->
          value instanceof Integer i
              ? (Object) (long) i
              : value instanceof Short s ? (long) s : value;
      case TypeOid.FLOAT8 -> value instanceof Float f ? (double) f : value;
      case TypeOid.NUMERIC ->
          value instanceof Long || value instanceof Integer || value instanceof Short
              ? BigDecimal.valueOf(((Number) value).longValue())
              : value;
      default -> value;
    };
  }

  @Override
  public void close() {
    heap.close();
  }
}
