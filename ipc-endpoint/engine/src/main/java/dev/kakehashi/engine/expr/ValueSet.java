package dev.kakehashi.engine.expr;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.kakehashi.engine.store.api.ColumnKind;
import dev.kakehashi.engine.type.ScalarFunction;
import dev.kakehashi.engine.type.Types;
import dev.kakehashi.engine.type.Varlena;
import dev.kakehashi.engine.type.array.ArrayValue;
import dev.kakehashi.engine.type.value.Ordering;
import dev.kakehashi.engine.type.value.Values;
import dev.kakehashi.engine.vector.ColumnVector;
import dev.kakehashi.engine.vector.VarHeap;
import dev.kakehashi.engine.vector.VectorBatch;
import dev.kakehashi.protocol.TypeOid;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// Values that an [Expr.InList] or [Expr.InArray] compares with: distinct, in their order.
///
/// Belongs to one chain of operators. By-reference values of an array lie in memory of the set, until the next reading.
public final class ValueSet {
  private final ColumnKind kind;
  private final Evaluator[] list;
  private final Expr.@Nullable InArray array;
  private final EvalContext context;
  private final VectorBatch one = new VectorBatch(0);

  private long[] words = new long[0];
  private int size;
  private boolean isNull;
  private boolean hasNull;
  private boolean isEmpty;

  // By-reference values of an array; grows only.
  private @Nullable MemorySegment memory;

  // The array that was read last, if its text says all about it: null or the elements of another
  // row need no reading then.
  private byte @Nullable [] source;

  private ValueSet(
      int typeOid, List<Expr> list, Expr.@Nullable InArray array, EvalContext context) {
    this.kind = Types.kind(typeOid);
    this.list = Evaluators.of(list, context);
    this.array = array;
    this.context = context;
    one.size = 1;
  }

  /// The set of an [Expr.InList] or [Expr.InArray].
  public static ValueSet of(Expr set, EvalContext context) {
    return switch (set) {
      case Expr.InList in -> new ValueSet(in.argument().typeOid(), in.list(), null, context);
      case Expr.InArray in ->
          new ValueSet(in.argument().typeOid(), List.of(in.array()), in, context);
      default -> throw new IllegalArgumentException("not a set: " + set);
    };
  }

  /// Computes the set from expressions without columns.
  public void read() {
    read(one, 0);
  }

  /// Computes the set for one row.
  void read(VectorBatch batch, int row) {
    if (array == null) {
      clear();
      readList(batch, row);
      sort();
      return;
    }
    ColumnVector value = list[0].evaluate(batch);
    if (value.isNull(row)) {
      clear();
      isNull = true;
    } else if (!isSource(value.words[row])) {
      clear();
      byte[] text = Varlena.bytes(value.words[row]);
      readArray(array, text);
      sort();
      source = isTimeZoneFree(array) ? text : null;
    }
  }

  private void clear() {
    isNull = false;
    hasNull = false;
    isEmpty = false;
    size = 0;
    source = null;
  }

  private boolean isSource(long word) {
    return source != null
        && source.length == Varlena.length(word)
        && MemorySegment.mismatch(
                VarHeap.MEMORY,
                Varlena.data(word),
                Varlena.data(word) + source.length,
                MemorySegment.ofArray(source),
                0,
                source.length)
            < 0;
  }

  private static boolean isTimeZoneFree(Expr.InArray in) {
    return in.elementOid() != TypeOid.TIMESTAMPTZ && in.argument().typeOid() != TypeOid.TIMESTAMPTZ;
  }

  /// The array itself is null.
  boolean isNull() {
    return isNull;
  }

  /// There is no element, not even a null.
  boolean isEmpty() {
    return isEmpty;
  }

  /// One of the elements is null.
  boolean hasNull() {
    return hasNull;
  }

  /// How many distinct values there are that are not null.
  public int size() {
    return size;
  }

  /// Value number `i` in the type's order.
  public long word(int i) {
    return words[i];
  }

  boolean contains(long word) {
    int low = 0;
    int high = size - 1;
    while (low <= high) {
      int middle = (low + high) >>> 1;
      int order = Ordering.compare(kind, words[middle], word);
      if (order == 0) {
        return true;
      }
      if (order < 0) {
        low = middle + 1;
      } else {
        high = middle - 1;
      }
    }
    return false;
  }

  private void readList(VectorBatch batch, int row) {
    reserve(list.length);
    for (Evaluator item : list) {
      ColumnVector value = item.evaluate(batch);
      if (value.isNull(row)) {
        hasNull = true;
      } else {
        words[size++] = value.words[row];
      }
    }
  }

  private void readArray(Expr.InArray in, byte[] text) {
    List<@Nullable String> elements = ArrayValue.parse(new String(text, UTF_8)).elements();
    isEmpty = elements.isEmpty();
    reserve(elements.size());
    VarHeap callers = context.functions.heap;
    try (VarHeap heap = new VarHeap()) {
      context.functions.heap = heap;
      for (String element : elements) {
        if (element == null) {
          hasNull = true;
        } else {
          words[size++] =
              convert(
                  Values.parse(in.elementOid(), element, heap, context.functions.zone), in.cast());
        }
      }
      keep();
    } finally {
      context.functions.heap = callers;
    }
  }

  private long convert(long word, @Nullable ScalarFunction cast) {
    return cast == null ? word : cast.body().apply(new long[] {word}, 0, context.functions);
  }

  /// Moves by-reference values out of the heap that they were made in.
  private void keep() {
    if (!kind.byReference()) {
      return;
    }
    long bytes = 0;
    for (int i = 0; i < size; i++) {
      bytes += paddedBytes(words[i]);
    }
    MemorySegment segment = memory;
    if (segment == null || segment.byteSize() < bytes) {
      segment = Arena.ofAuto().allocate(Math.max(8, bytes), 8);
      memory = segment;
    }
    long at = 0;
    for (int i = 0; i < size; i++) {
      MemorySegment.copy(VarHeap.MEMORY, words[i], segment, at, Values.byteLength(kind, words[i]));
      long padded = paddedBytes(words[i]);
      words[i] = segment.address() + at;
      at += padded;
    }
  }

  private long paddedBytes(long word) {
    return (Values.byteLength(kind, word) + 7) & ~7L;
  }

  private void reserve(int count) {
    if (words.length < count) {
      words = new long[count];
    }
  }

  private void sort() {
    if (kind == ColumnKind.INTEGER) {
      Arrays.sort(words, 0, size);
    } else {
      Long[] boxed = new Long[size];
      for (int i = 0; i < size; i++) {
        boxed[i] = words[i];
      }
      Arrays.sort(boxed, (a, b) -> Ordering.compare(kind, a, b));
      for (int i = 0; i < size; i++) {
        words[i] = boxed[i];
      }
    }
    int distinct = Math.min(size, 1);
    for (int i = 1; i < size; i++) {
      if (!Ordering.equal(kind, words[i], words[distinct - 1])) {
        words[distinct++] = words[i];
      }
    }
    size = distinct;
  }
}
