package dev.kakehashi.engine.type.array;

import static dev.kakehashi.protocol.TypeOid.INT4;
import static dev.kakehashi.protocol.TypeOid.TEXT;

import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.engine.type.FunctionContext;
import dev.kakehashi.engine.type.ScalarFunction;
import dev.kakehashi.engine.type.ScalarFunction.Body;
import dev.kakehashi.engine.type.SqlErrors;
import dev.kakehashi.engine.type.Types;
import dev.kakehashi.engine.type.Varlena;
import dev.kakehashi.engine.type.registry.PolymorphicFunctions;
import dev.kakehashi.engine.type.value.Ordering;
import dev.kakehashi.engine.type.value.Values;
import dev.kakehashi.protocol.ErrorCode;
import dev.kakehashi.protocol.TypeOid;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.function.IntFunction;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/// The functions of arrays.
public final class ArrayFunctions {
  private static final int INT4_ARRAY = TypeOid.arrayOf(INT4);

  private final PolymorphicFunctions set;

  private ArrayFunctions(PolymorphicFunctions set) {
    this.set = set;
  }

  public static void register(PolymorphicFunctions set) {
    ArrayBuckets.register(set);
    ArrayFunctions functions = new ArrayFunctions(set);
    functions.sizes();
    functions.searches();
    functions.changes();
    functions.others();
  }

  /// A function whose result is an array of the arguments' type.
  private void add(
      String name, String pattern, String signature, boolean strict, IntFunction<Body> body) {
    set.add(
        name,
        name + "(" + signature + ") → anyarray",
        oids -> {
          int[] declared = ArrayTypes.declared(pattern, oids);
          if (declared == null) {
            return null;
          }
          int element = element(declared);
          int result = TypeOid.arrayOf(element);
          return ArrayTypes.function(name, declared, result, element, strict, body.apply(element));
        });
  }

  /// A function with a result of another type.
  private void add(
      String name, String pattern, String signature, int result, IntFunction<Body> body) {
    set.add(
        name,
        name + "(" + signature + ") → " + Types.name(result),
        oids -> {
          int[] declared = ArrayTypes.declared(pattern, oids);
          if (declared == null) {
            return null;
          }
          int element = element(declared);
          return ArrayTypes.function(name, declared, result, element, false, body.apply(element));
        });
  }

  private static int element(int[] declared) {
    for (int oid : declared) {
      if (ArrayTypes.isArray(oid)) {
        return TypeOid.element(oid);
      }
    }
    throw new IllegalStateException("no array among the arguments");
  }

  /// Null for a null argument; the result may be null as well.
  private static Body strict(Body body) {
    return (a, nulls, c) -> nulls != 0 ? c.nullResult() : body.apply(a, nulls, c);
  }

  private void sizes() {
    add(
        "array_ndims",
        "a",
        "anyarray",
        INT4,
        _ ->
            strict((a, _, c) -> {
              int dimensions = ArrayTypes.array(a[0]).dimensions();
              return dimensions == 0 ? c.nullResult() : dimensions;
            }));
    add(
        "cardinality",
        "a",
        "anyarray",
        INT4,
        _ -> strict((a, _, _) -> ArrayTypes.array(a[0]).elements().size()));
    add(
        "array_dims",
        "a",
        "anyarray",
        TEXT,
        _ ->
            strict((a, _, c) -> {
              StringBuilder bounds = new StringBuilder();
              ArrayTypes.array(a[0]).appendBounds(bounds);
              return bounds.isEmpty() ? c.nullResult() : Varlena.of(c.heap, bounds.toString());
            }));
    dimension("array_length", (array, i) -> array.lengths().get(i));
    dimension("array_lower", (array, i) -> array.lowerBounds().get(i));
    dimension("array_upper", ArrayValue::upperBound);
  }

  /// Measure of one dimension.
  @FunctionalInterface
  private interface Measure {
    long of(ArrayValue array, int dimension);
  }

  private void dimension(String name, Measure measure) {
    add(
        name,
        "ai",
        "anyarray, integer",
        INT4,
        _ ->
            strict((a, _, c) -> {
              ArrayValue array = ArrayTypes.array(a[0]);
              return a[1] < 1 || a[1] > array.dimensions()
                  ? c.nullResult()
                  : measure.of(array, (int) a[1] - 1);
            }));
  }

  private void searches() {
    add(
        "array_position",
        "ae",
        "anycompatiblearray, anycompatible",
        INT4,
        ArrayFunctions::position);
    add(
        "array_position",
        "aei",
        "anycompatiblearray, anycompatible, integer",
        INT4,
        ArrayFunctions::position);
    add(
        "array_positions",
        "ae",
        "anycompatiblearray, anycompatible",
        INT4_ARRAY,
        oid ->
            (a, nulls, c) -> {
              if (ArrayTypes.isNull(nulls, 0)) {
                return c.nullResult();
              }
              ArrayValue array = oneDimension(a[0], "searching for elements in");
              List<@Nullable String> found = new ArrayList<>();
              for (int i = next(array, oid, a, nulls, 0, c);
                  i >= 0;
                  i = next(array, oid, a, nulls, i + 1, c)) {
                found.add(Integer.toString(i + array.lowerBounds().getFirst()));
              }
              return ArrayTypes.word(ArrayValue.of(found), c);
            });
  }

  private static Body position(int oid) {
    return (a, nulls, c) -> {
      if (ArrayTypes.isNull(nulls, 0)) {
        return c.nullResult();
      }
      ArrayValue array = oneDimension(a[0], "searching for elements in");
      if (array.isEmpty()) {
        return c.nullResult();
      }
      int lower = array.lowerBounds().getFirst();
      long from = 0;
      if (a.length > 2) {
        if (ArrayTypes.isNull(nulls, 2)) {
          throw nullNotAllowed("initial position must not be null");
        }
        from = Math.max(0, a[2] - lower);
      }
      int found = from >= array.elements().size() ? -1 : next(array, oid, a, nulls, (int) from, c);
      return found < 0 ? c.nullResult() : found + lower;
    };
  }

  /// Where the next element is that is not distinct from argument 1; -1: nowhere.
  private static int next(
      ArrayValue array, int oid, long[] a, long nulls, int from, FunctionContext context) {
    Types.requireEquality(oid);
    boolean wantsNull = ArrayTypes.isNull(nulls, 1);
    for (int i = from; i < array.elements().size(); i++) {
      String element = array.elements().get(i);
      if (element == null
          ? wantsNull
          : !wantsNull
              && Ordering.equal(
                  oid, a[1], Values.parse(oid, element, context.heap, context.zone))) {
        return i;
      }
    }
    return -1;
  }

  private static ArrayValue oneDimension(long word, String what) {
    ArrayValue array = ArrayTypes.array(word);
    if (array.dimensions() > 1) {
      throw SqlErrors.notSupported(what + " multidimensional arrays is not supported");
    }
    return array;
  }

  private static EngineException nullNotAllowed(String message) {
    return new EngineException(ErrorCode.NULL_VALUE_NOT_ALLOWED, message);
  }

  private void changes() {
    add(
        "array_append",
        "ae",
        "anycompatiblearray, anycompatible",
        false,
        oid -> (a, nulls, c) -> extended(a[0], ArrayTypes.isNull(nulls, 0), oid, a, nulls, 1, c));
    add(
        "array_prepend",
        "ea",
        "anycompatible, anycompatiblearray",
        false,
        oid -> (a, nulls, c) -> extended(a[1], ArrayTypes.isNull(nulls, 1), oid, a, nulls, 0, c));
    add(
        "array_cat",
        "aa",
        "anycompatiblearray, anycompatiblearray",
        false,
        _ -> ArrayFunctions::concatenated);
    add(
        "array_remove",
        "ae",
        "anycompatiblearray, anycompatible",
        false,
        oid ->
            (a, nulls, c) -> {
              if (ArrayTypes.isNull(nulls, 0)) {
                return c.nullResult();
              }
              ArrayValue array = oneDimension(a[0], "removing elements from");
              List<@Nullable String> kept = new ArrayList<>(array.elements());
              for (int i = next(array, oid, a, nulls, 0, c), removed = 0;
                  i >= 0;
                  i = next(array, oid, a, nulls, i + 1, c)) {
                kept.remove(i - removed++);
              }
              return array.isEmpty()
                  ? a[0]
                  : ArrayTypes.word(ArrayValue.of(kept, array.lowerBounds().getFirst()), c);
            });
    add(
        "array_replace",
        "aee",
        "anycompatiblearray, anycompatible, anycompatible",
        false,
        oid ->
            (a, nulls, c) -> {
              if (ArrayTypes.isNull(nulls, 0)) {
                return c.nullResult();
              }
              ArrayValue array = ArrayTypes.array(a[0]);
              List<@Nullable String> elements = new ArrayList<>(array.elements());
              String with = ArrayTypes.text(oid, a, nulls, 2, c);
              for (int i = next(array, oid, a, nulls, 0, c);
                  i >= 0;
                  i = next(array, oid, a, nulls, i + 1, c)) {
                elements.set(i, with);
              }
              return ArrayTypes.word(array.withElements(elements), c);
            });
    add(
        "array_reverse",
        "a",
        "anyarray",
        true,
        _ ->
            (a, _, c) -> {
              ArrayValue array = ArrayTypes.array(a[0]);
              return ArrayTypes.word(array.withRows(reversed(array)), c);
            });
    add("array_sort", "a", "anyarray", true, ArrayFunctions::sorted);
    add("array_sort", "ab", "anyarray, boolean", true, ArrayFunctions::sorted);
    add("array_sort", "abb", "anyarray, boolean, boolean", true, ArrayFunctions::sorted);
    add(
        "trim_array",
        "ai",
        "anyarray, integer",
        true,
        _ ->
            (a, _, c) -> {
              ArrayValue array = ArrayTypes.array(a[0]);
              int length = array.isEmpty() ? 0 : array.lengths().getFirst();
              if (a[1] < 0 || a[1] > length) {
                throw SqlErrors.arraySubscript(
                    "number of elements to trim must be between 0 and " + length);
              }
              if (array.isEmpty()) {
                return a[0];
              }
              int last = array.upperBound(0) - (int) a[1];
              return ArrayTypes.word(array.slice(new Integer[1], new Integer[] {last}), c);
            });
  }

  private static Body sorted(int oid) {
    return (a, _, c) -> {
      boolean descending = a.length > 1 && a[1] != 0;
      boolean nullsFirst = a.length > 2 ? a[2] != 0 : descending;
      ArrayValue array = ArrayTypes.array(a[0]);
      return ArrayTypes.word(
          array.withRows(ArraySort.order(array, oid, descending, nullsFirst, c)), c);
    };
  }

  /// Numbers of the rows of the first dimension, the last one first.
  private static int[] reversed(ArrayValue array) {
    int length = array.isEmpty() ? 0 : array.lengths().getFirst();
    return IntStream.range(0, length).map(i -> length - 1 - i).toArray();
  }

  /// The array with one more element, in front of the others if that is argument 0.
  static long extended(
      long word, boolean isNull, int oid, long[] a, long nulls, int argument, FunctionContext c) {
    ArrayValue array = isNull ? ArrayValue.EMPTY : ArrayTypes.array(word);
    if (array.dimensions() > 1) {
      throw new EngineException(
          ErrorCode.DATA_EXCEPTION, "argument must be empty or one-dimensional array");
    }
    List<@Nullable String> elements = new ArrayList<>(array.elements());
    elements.add(argument == 0 ? 0 : elements.size(), ArrayTypes.text(oid, a, nulls, argument, c));
    return ArrayTypes.word(
        ArrayValue.of(elements, array.isEmpty() ? 1 : array.lowerBounds().getFirst()), c);
  }

  static long concatenated(long[] a, long nulls, FunctionContext context) {
    if (nulls != 0) {
      return nulls == 3 ? context.nullResult() : nulls == 1 ? a[1] : a[0];
    }
    ArrayValue left = ArrayTypes.array(a[0]);
    ArrayValue right = ArrayTypes.array(a[1]);
    if (left.isEmpty() || right.isEmpty()) {
      return left.isEmpty() ? a[1] : a[0];
    }
    return ArrayTypes.word(concatenated(left, right), context);
  }

  private static ArrayValue concatenated(ArrayValue left, ArrayValue right) {
    int difference = left.dimensions() - right.dimensions();
    ArrayValue outer = difference >= 0 ? left : right;
    List<Integer> lengths = new ArrayList<>(outer.lengths());
    boolean fits =
        switch (difference) {
          case 0 ->
              lengths.subList(1, lengths.size()).equals(right.lengths().subList(1, lengths.size()))
                  && left.lowerBounds()
                      .subList(1, lengths.size())
                      .equals(right.lowerBounds().subList(1, lengths.size()));
          case 1 -> isRow(right, left);
          case -1 -> isRow(left, right);
          default -> false;
        };
    if (!fits) {
      throw SqlErrors.arraySubscript("cannot concatenate incompatible arrays");
    }
    lengths.set(0, outer.lengths().getFirst() + (difference == 0 ? right.lengths().getFirst() : 1));
    List<@Nullable String> elements = new ArrayList<>(left.elements());
    elements.addAll(right.elements());
    return new ArrayValue(List.copyOf(lengths), outer.lowerBounds(), elements);
  }

  /// Whether an array has the form of the other's elements.
  private static boolean isRow(ArrayValue row, ArrayValue array) {
    int dimensions = array.dimensions();
    return row.lengths().equals(array.lengths().subList(1, dimensions))
        && row.lowerBounds().equals(array.lowerBounds().subList(1, dimensions));
  }

  private void others() {
    add(
        "array_to_string",
        "at",
        "anyarray, text",
        TEXT,
        _ -> strict((a, _, c) -> joined(a, null, c)));
    add(
        "array_to_string",
        "att",
        "anyarray, text, text",
        TEXT,
        _ ->
            (a, nulls, c) ->
                (nulls & 3) != 0
                    ? c.nullResult()
                    : joined(a, ArrayTypes.text(TEXT, a, nulls, 2, c), c));
    set.add("array_fill", "array_fill(anyelement, integer[]) → anyarray", ArrayFunctions::fill);
    set.add(
        "array_fill",
        "array_fill(anyelement, integer[], integer[]) → anyarray",
        oids -> oids.length == 3 ? fill(oids) : null);
  }

  private static long joined(long[] a, @Nullable String nullText, FunctionContext context) {
    String delimiter = Varlena.string(a[1]);
    StringBuilder out = new StringBuilder();
    boolean first = true;
    for (String element : ArrayTypes.array(a[0]).elements()) {
      String text = element == null ? nullText : element;
      if (text == null) {
        continue;
      }
      out.append(first ? "" : delimiter).append(text);
      first = false;
    }
    return Varlena.of(context.heap, out.toString());
  }

  private static @Nullable ScalarFunction fill(int[] oids) {
    int array = oids[0] == Types.UNKNOWN ? 0 : TypeOid.arrayOf(oids[0]);
    boolean fits = oids.length == 2 || oids.length == 3;
    for (int i = 1; i < oids.length; i++) {
      fits &= oids[i] == Types.UNKNOWN || oids[i] == INT4_ARRAY;
    }
    if (!fits || array == TypeOid.UNSPECIFIED) {
      return null;
    }
    int[] declared = oids.clone();
    Arrays.fill(declared, 1, declared.length, INT4_ARRAY);
    return ArrayTypes.function(
        "array_fill",
        declared,
        array,
        oids[0],
        false,
        (a, nulls, c) -> filled(oids[0], a, nulls, c));
  }

  private static long filled(int oid, long[] a, long nulls, FunctionContext context) {
    if (nulls >>> 1 != 0) {
      throw nullNotAllowed("dimension array or low bound array cannot be null");
    }
    List<Integer> lengths = integers(a[1], "dimension");
    List<Integer> bounds =
        a.length > 2 ? integers(a[2], "low bound") : ArrayValue.ones(lengths.size());
    if (bounds.size() != lengths.size()) {
      throw wrongSubscripts();
    }
    if (lengths.size() > ArrayValue.MAX_DIMENSIONS) {
      throw ArrayValue.tooManyDimensions(lengths.size());
    }
    long count = lengths.isEmpty() ? 0 : 1;
    for (int length : lengths) {
      count = length < 0 ? Long.MAX_VALUE : Math.multiplyExact(count, (long) length);
      if (count > 1 << 27) {
        throw new EngineException(
            ErrorCode.LIMIT_EXCEEDED, "array size exceeds the maximum allowed (134217727)");
      }
    }
    String text = ArrayTypes.text(oid, a, nulls, 0, context);
    if (count * (text == null ? 5 : text.length() + 1) > Varlena.MAX_BYTES) {
      throw SqlErrors.lengthTooLarge();
    }
    ArrayValue array =
        count == 0
            ? ArrayValue.EMPTY
            : new ArrayValue(lengths, bounds, Collections.nCopies((int) count, text));
    return ArrayTypes.word(array, context);
  }

  private static List<Integer> integers(long word, String what) {
    ArrayValue array = ArrayTypes.array(word);
    if (array.dimensions() > 1) {
      throw wrongSubscripts();
    }
    List<Integer> values = new ArrayList<>();
    for (String element : array.elements()) {
      if (element == null) {
        throw nullNotAllowed(what + " values cannot be null");
      }
      values.add(Integer.parseInt(element));
    }
    return values;
  }

  private static EngineException wrongSubscripts() {
    return SqlErrors.arraySubscript("wrong number of array subscripts");
  }
}
