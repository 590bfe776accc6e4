package dev.kakehashi.engine.type.array;

import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.engine.type.ScalarFunction;
import dev.kakehashi.engine.type.ScalarFunction.Body;
import dev.kakehashi.engine.type.value.Values;
import dev.kakehashi.protocol.ErrorCode;
import dev.kakehashi.protocol.TypeOid;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// `ARRAY[...]`, `a[1]`, `a[1:2]`: what the binder makes of the syntax of arrays.
public final class ArraySubscripts {
  private ArraySubscripts() {}

  /// The array of its arguments.
  ///
  /// @param oid type of the arguments; an array of arrays has one more dimension
  public static ScalarFunction constructor(int oid, int count) {
    int[] declared = new int[count];
    Arrays.fill(declared, oid);
    boolean nested = ArrayTypes.isArray(oid);
    int element = nested ? TypeOid.element(oid) : oid;
    Body body =
        nested
            ? (a, nulls, c) -> {
              List<ArrayValue> arrays = new ArrayList<>();
              for (int i = 0; i < a.length; i++) {
                arrays.add(ArrayTypes.isNull(nulls, i) ? ArrayValue.EMPTY : ArrayTypes.array(a[i]));
              }
              return ArrayTypes.word(ArrayValue.nested(arrays), c);
            }
            : (a, nulls, c) -> {
              List<@Nullable String> elements = new ArrayList<>();
              for (int i = 0; i < a.length; i++) {
                elements.add(ArrayTypes.text(oid, a, nulls, i, c));
              }
              return ArrayTypes.word(ArrayValue.of(elements), c);
            };
    return ArrayTypes.function("array", declared, TypeOid.arrayOf(element), element, false, body);
  }

  /// The element at subscripts.
  public static ScalarFunction element(int arrayOid, int subscripts) {
    int element = TypeOid.element(arrayOid);
    return ArrayTypes.function(
        "array_element",
        declared(arrayOid, subscripts),
        element,
        element,
        false,
        (a, nulls, c) -> {
          if (nulls != 0) {
            return c.nullResult();
          }
          ArrayValue array = ArrayTypes.array(a[0]);
          int index = array.index(Arrays.copyOfRange(a, 1, a.length));
          String text = index < 0 ? null : array.elements().get(index);
          return text == null ? c.nullResult() : Values.parse(element, text, c.heap, c.zone);
        });
  }

  /// The part of an array between bounds.
  ///
  /// @param form one letter for each dimension: `i` one subscript, to which the part goes from 1, `b` both bounds, `l` the lower one, `u`
  ///     the upper one, `n` none; the bounds that there are follow the array as arguments
  public static ScalarFunction slice(int arrayOid, String form) {
    int count =
        form.chars().map(dimension -> dimension == 'b' ? 2 : dimension == 'n' ? 0 : 1).sum();
    int element = TypeOid.element(arrayOid);
    return ArrayTypes.function(
        "array_slice_" + form,
        declared(arrayOid, count),
        arrayOid,
        element,
        false,
        (a, nulls, c) -> {
          if (nulls != 0) {
            return c.nullResult();
          }
          @Nullable Integer[] lower = new @Nullable Integer[form.length()];
          @Nullable Integer[] upper = new @Nullable Integer[form.length()];
          int next = 1;
          for (int i = 0; i < form.length(); i++) {
            char dimension = form.charAt(i);
            if (dimension == 'i') {
              lower[i] = 1;
            } else if (dimension == 'b' || dimension == 'l') {
              lower[i] = (int) a[next++];
            }
            if (dimension == 'i' || dimension == 'b' || dimension == 'u') {
              upper[i] = (int) a[next++];
            }
          }
          return ArrayTypes.word(ArrayTypes.array(a[0]).slice(lower, upper), c);
        });
  }

  /// An array with another element at subscripts: the array, the element, the subscripts. A null array is one without elements.
  public static ScalarFunction assignment(int arrayOid, int subscripts) {
    int element = TypeOid.element(arrayOid);
    int[] declared = new int[subscripts + 2];
    Arrays.fill(declared, TypeOid.INT4);
    declared[0] = arrayOid;
    declared[1] = element;
    return ArrayTypes.function(
        "array_set_element",
        declared,
        arrayOid,
        element,
        false,
        (a, nulls, c) -> {
          if (nulls >>> 2 != 0) {
            throw new EngineException(
                ErrorCode.NULL_VALUE_NOT_ALLOWED, "array subscript in assignment must not be null");
          }
          ArrayValue array =
              ArrayTypes.isNull(nulls, 0) ? ArrayValue.EMPTY : ArrayTypes.array(a[0]);
          String text = ArrayTypes.text(element, a, nulls, 1, c);
          return ArrayTypes.word(array.with(text, Arrays.copyOfRange(a, 2, a.length)), c);
        });
  }

  private static int[] declared(int arrayOid, int integers) {
    int[] declared = new int[integers + 1];
    Arrays.fill(declared, TypeOid.INT4);
    declared[0] = arrayOid;
    return declared;
  }
}
