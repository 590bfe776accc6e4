package dev.kakehashi.engine.type.array;

import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.engine.type.SqlErrors;
import dev.kakehashi.engine.type.Varlena;
import dev.kakehashi.engine.vector.Interrupts;
import dev.kakehashi.protocol.ErrorCode;
import dev.kakehashi.valuetext.ValueErrors;
import dev.kakehashi.valuetext.array.ArrayElements;
import dev.kakehashi.valuetext.array.ArrayReader;
import dev.kakehashi.valuetext.array.ArrayReader.Token;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/// An array of any type: its elements as texts, those of inner arrays one after the other.
///
/// @param lengths of the dimensions, outermost first; none for an array without elements
/// @param lowerBounds of the dimensions' subscripts
/// @param elements null is SQL's null
public record ArrayValue(
    List<Integer> lengths, List<Integer> lowerBounds, List<@Nullable String> elements) {
  /// Elements between two looks for a cancel, less one.
  private static final int CHECK_MASK = (1 << 9) - 1;

  /// As many as PostgreSQL has.
  public static final int MAX_DIMENSIONS = ArrayReader.MAX_DIMENSIONS;

  /// As many as PostgreSQL has.
  private static final int MAX_ELEMENTS = ArrayReader.MAX_ELEMENTS;

  public static final ArrayValue EMPTY = new ArrayValue(List.of(), List.of(), List.of());

  /// An array of one dimension with subscripts from 1.
  public static ArrayValue of(List<@Nullable String> elements) {
    return of(elements, 1);
  }

  /// An array of one dimension.
  public static ArrayValue of(List<@Nullable String> elements, int lowerBound) {
    return elements.isEmpty()
        ? EMPTY
        : new ArrayValue(List.of(elements.size()), List.of(lowerBound), elements);
  }

  /// Reads PostgreSQL's text form.
  ///
  /// @throws EngineException 22P02 for text that is no array, and PostgreSQL's other SQLSTATEs for bounds and dimensions that it refuses
  public static ArrayValue parse(String text) {
    byte[] utf8 = text.getBytes(StandardCharsets.UTF_8);
    ArrayReader reader = new ArrayReader();
    reader.open(utf8, 0, utf8.length);
    List<@Nullable String> elements = new ArrayList<>();
    int parts = 0;
    for (Token token = reader.next(); token != Token.END; token = reader.next()) {
      if ((++parts & CHECK_MASK) == 0) {
        Interrupts.check();
      }
      if (token == Token.VALUE) {
        elements.add(
            new String(reader.bytes(), reader.from(), reader.length(), StandardCharsets.UTF_8));
      } else if (token == Token.NULL) {
        elements.add(null);
      }
    }
    if (elements.isEmpty()) {
      return EMPTY;
    }
    List<Integer> lengths = new ArrayList<>();
    List<Integer> lowerBounds = new ArrayList<>();
    for (int i = 0; i < reader.dimensions(); i++) {
      lengths.add(reader.length(i));
      lowerBounds.add(reader.lowerBound(i));
    }
    return new ArrayValue(List.copyOf(lengths), List.copyOf(lowerBounds), elements);
  }

  public int dimensions() {
    return lengths.size();
  }

  public boolean isEmpty() {
    return elements.isEmpty();
  }

  /// The largest subscript of a dimension, which is counted from 0.
  public int upperBound(int dimension) {
    return lowerBounds.get(dimension) + lengths.get(dimension) - 1;
  }

  /// An array of the same form.
  public ArrayValue withElements(List<@Nullable String> others) {
    return new ArrayValue(lengths, lowerBounds, others);
  }

  /// An array of the same form with its rows in another order: elements, or of several dimensions what has one first subscript.
  ///
  /// @param order numbers of the rows, from 0
  ArrayValue withRows(int[] order) {
    int width = order.length == 0 ? 0 : elements.size() / order.length;
    List<@Nullable String> moved = new ArrayList<>(elements.size());
    for (int row : order) {
      Interrupts.check();
      moved.addAll(elements.subList(row * width, (row + 1) * width));
    }
    return withElements(moved);
  }

  /// An array of the same form; null stays null.
  ///
  /// @param conversion of an element
  public ArrayValue map(UnaryOperator<String> conversion) {
    List<@Nullable String> converted = new ArrayList<>(elements.size());
    for (String element : elements) {
      if ((converted.size() & CHECK_MASK) == CHECK_MASK) {
        Interrupts.check();
      }
      converted.add(element == null ? null : conversion.apply(element));
    }
    return withElements(converted);
  }

  /// Where in `elements` a subscripted element is; -1: nowhere.
  public int index(long[] subscripts) {
    if (subscripts.length != lengths.size()) {
      return -1;
    }
    int index = 0;
    for (int i = 0; i < subscripts.length; i++) {
      if (subscripts[i] < lowerBounds.get(i) || subscripts[i] > upperBound(i)) {
        return -1;
      }
      index = index * lengths.get(i) + (int) (subscripts[i] - lowerBounds.get(i));
    }
    return index;
  }

  /// The array with another element, as an assignment has it: without elements it gets one dimension for each subscript, and one of one
  /// dimension grows, with nulls in between.
  ///
  /// @throws EngineException 2202E for other dimensions, or an element outside of several, 54000 where it gets too large
  ArrayValue with(@Nullable String element, long[] subscripts) {
    if (isEmpty()) {
      return first(element, subscripts);
    }
    if (subscripts.length != dimensions()) {
      throw SqlErrors.arraySubscript("wrong number of array subscripts");
    }
    List<@Nullable String> changed = new ArrayList<>(elements);
    int index = index(subscripts);
    if (index >= 0) {
      changed.set(index, element);
      return withElements(changed);
    }
    if (subscripts.length > 1) {
      throw SqlErrors.arraySubscript("array subscript out of range");
    }
    long at = subscripts[0];
    int lower = lowerBounds.getFirst();
    long missing = at < lower ? lower - at - 1 : at - upperBound(0) - 1;
    if (changed.size() + missing + 1 > MAX_ELEMENTS) {
      throw ValueErrors.tooManyElements(MAX_ELEMENTS);
    }
    if ((missing + 1) * "NULL,".length() > Varlena.MAX_BYTES) {
      throw SqlErrors.lengthTooLarge();
    }
    List<@Nullable String> gap = Collections.nCopies((int) missing, null);
    if (at < lower) {
      changed.addAll(0, gap);
      changed.addFirst(element);
    } else {
      changed.addAll(gap);
      changed.add(element);
    }
    return of(changed, (int) Math.min(at, lower));
  }

  /// An array of one element at subscripts.
  private static ArrayValue first(@Nullable String element, long[] subscripts) {
    List<Integer> sizes = ones(subscripts.length);
    List<Integer> bounds = new ArrayList<>();
    for (long subscript : subscripts) {
      if (subscript == Integer.MAX_VALUE) {
        throw new EngineException(
            ErrorCode.LIMIT_EXCEEDED, "array lower bound is too large: " + subscript);
      }
      bounds.add((int) subscript);
    }
    List<@Nullable String> one = new ArrayList<>();
    one.add(element);
    return new ArrayValue(sizes, List.copyOf(bounds), one);
  }

  /// The part between bounds, one pair for each of the first dimensions; other dimensions are taken from subscript 1 on, as PostgreSQL
  /// does. Its own subscripts begin at 1.
  ///
  /// @param lower a null: from the beginning
  /// @param upper a null: to the end
  public ArrayValue slice(@Nullable Integer[] lower, @Nullable Integer[] upper) {
    int dimensions = dimensions();
    if (dimensions < lower.length || dimensions == 0) {
      return EMPTY;
    }
    int[] first = new int[dimensions];
    List<Integer> sizes = new ArrayList<>();
    for (int i = 0; i < dimensions; i++) {
      int from = lowerBounds.get(i);
      int to = upperBound(i);
      if (i < lower.length) {
        Integer givenLower = lower[i];
        Integer givenUpper = upper[i];
        from = givenLower == null ? from : Math.max(from, givenLower);
        to = givenUpper == null ? to : Math.min(to, givenUpper);
      }
      if (from > to) {
        return EMPTY;
      }
      first[i] = from - lowerBounds.get(i);
      sizes.add(to - from + 1);
    }
    List<@Nullable String> taken = new ArrayList<>();
    take(first, sizes, 0, 0, taken);
    return new ArrayValue(List.copyOf(sizes), ones(dimensions), taken);
  }

  private void take(
      int[] first, List<Integer> sizes, int dimension, int base, List<@Nullable String> taken) {
    for (int i = 0; i < sizes.get(dimension); i++) {
      int at = base * lengths.get(dimension) + first[dimension] + i;
      if (dimension == sizes.size() - 1) {
        taken.add(elements.get(at));
      } else {
        take(first, sizes, dimension + 1, at, taken);
      }
    }
  }

  static List<Integer> ones(int count) {
    Integer[] ones = new Integer[count];
    Arrays.fill(ones, 1);
    return List.of(ones);
  }

  /// An array whose elements are arrays, all of the same dimensions.
  ///
  /// @throws EngineException 2202E when they are not
  public static ArrayValue nested(List<ArrayValue> arrays) {
    List<@Nullable String> all = new ArrayList<>();
    List<ArrayValue> inner = arrays.stream().filter(array -> !array.isEmpty()).toList();
    if (inner.isEmpty()) {
      return EMPTY;
    }
    ArrayValue form = inner.getFirst();
    for (ArrayValue array : arrays) {
      if (!array.lengths.equals(form.lengths) || !array.lowerBounds.equals(form.lowerBounds)) {
        throw SqlErrors.arraySubscript(
            "multidimensional arrays must have array expressions with matching dimensions");
      }
      all.addAll(array.elements);
    }
    if (form.dimensions() == MAX_DIMENSIONS) {
      throw tooManyDimensions(MAX_DIMENSIONS + 1);
    }
    List<Integer> sizes = new ArrayList<>(List.of(arrays.size()));
    sizes.addAll(form.lengths);
    List<Integer> bounds = new ArrayList<>(List.of(1));
    bounds.addAll(form.lowerBounds);
    return new ArrayValue(List.copyOf(sizes), List.copyOf(bounds), all);
  }

  public static EngineException tooManyDimensions(int count) {
    return ValueErrors.tooManyDimensions(count, MAX_DIMENSIONS);
  }

  /// PostgreSQL's text form.
  @Override
  public String toString() {
    if (isEmpty()) {
      return "{}";
    }
    StringBuilder out = new StringBuilder();
    if (lowerBounds.stream().anyMatch(bound -> bound != 1)) {
      appendBounds(out);
      out.append('=');
    }
    append(out, 0, 0);
    return out.toString();
  }

  /// `[1:2][0:3]`
  public void appendBounds(StringBuilder out) {
    for (int i = 0; i < dimensions(); i++) {
      out.append('[').append(lowerBounds.get(i)).append(':').append(upperBound(i)).append(']');
    }
  }

  private void append(StringBuilder out, int dimension, int base) {
    out.append('{');
    for (int i = 0; i < lengths.get(dimension); i++) {
      if (i > 0) {
        out.append(',');
      }
      if ((i & CHECK_MASK) == CHECK_MASK) {
        Interrupts.check();
      }
      int at = base * lengths.get(dimension) + i;
      if (dimension < dimensions() - 1) {
        append(out, dimension + 1, at);
      } else {
        ArrayElements.append(out, elements.get(at));
      }
    }
    out.append('}');
  }
}
