package dev.kakehashi.engine.type.array;

import dev.kakehashi.engine.type.FunctionContext;
import dev.kakehashi.engine.type.SqlErrors;
import dev.kakehashi.engine.type.Types;
import dev.kakehashi.engine.type.value.Ordering;
import java.util.Comparator;
import java.util.List;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/// array_sort(): the order of an array's rows, which are its elements, or of several dimensions what has one first subscript.
final class ArraySort {
  private ArraySort() {}

  /// Numbers of the rows in their order.
  ///
  /// @param oid of the elements
  /// @param nullsFirst where elements that are null go; rows of several dimensions are none
  /// @throws dev.kakehashi.engine.api.error.EngineException FEATURE_NOT_SUPPORTED for a type without order
  static int[] order(
      ArrayValue array, int oid, boolean descending, boolean nullsFirst, FunctionContext context) {
    int length = array.isEmpty() ? 0 : array.lengths().getFirst();
    if (length < 2) {
      return IntStream.range(0, length).toArray();
    }
    List<@Nullable String> elements = array.elements();
    if (!Types.hasOrder(oid)) {
      throw SqlErrors.notSupported(
          "could not identify a comparison function for type " + Types.name(oid));
    }
    long[] words = ArrayTypes.words(elements, oid, context);
    int width = elements.size() / length;
    Comparator<Integer> rows =
        array.dimensions() == 1
            ? (a, b) -> compare(elements, words, oid, a, b, descending, nullsFirst)
            : (a, b) -> {
              int order = 0;
              // Within arrays nulls are greater than everything.
              for (int i = 0; order == 0 && i < width; i++) {
                order = compare(elements, words, oid, a * width + i, b * width + i, false, false);
              }
              return descending ? -order : order;
            };
    return IntStream.range(0, length).boxed().sorted(rows).mapToInt(Integer::intValue).toArray();
  }

  private static int compare(
      List<@Nullable String> elements,
      long[] words,
      int oid,
      int a,
      int b,
      boolean descending,
      boolean nullsFirst) {
    boolean isNull = elements.get(a) == null;
    if (isNull || elements.get(b) == null) {
      boolean both = isNull && elements.get(b) == null;
      return both ? 0 : isNull == nullsFirst ? -1 : 1;
    }
    int order = Ordering.compare(Types.kind(oid), words[a], words[b]);
    return descending ? -order : order;
  }
}
