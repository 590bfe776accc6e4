package dev.kakehashi.engine.type.array;

import dev.kakehashi.engine.type.ScalarFunction;
import dev.kakehashi.engine.type.value.Values;
import dev.kakehashi.protocol.TypeOid;
import org.jspecify.annotations.Nullable;

/// An operator with ANY or ALL of an array: `value < ANY (array)`.
public final class QuantifiedArrays {
  private QuantifiedArrays() {}

  /// The function of a value and an array.
  ///
  /// @param operator of two arguments, which is null for a null; its second one is an element of the array
  /// @param any ANY, else ALL
  public static ScalarFunction of(ScalarFunction operator, int arrayOid, boolean any) {
    int[] oids = {operator.argumentOids()[0], arrayOid};
    int element = operator.argumentOids()[1];
    return new ScalarFunction(
        operator.name() + (any ? " any" : " all"),
        oids,
        TypeOid.BOOL,
        false,
        operator.immutable() && element != TypeOid.TIMESTAMPTZ,
        (arguments, nulls, context) -> {
          if ((nulls & 2) != 0) {
            return context.nullResult();
          }
          boolean unknown = false;
          for (@Nullable String text : ArrayTypes.array(arguments[1]).elements()) {
            if (text == null || (nulls & 1) != 0) {
              unknown = true;
              continue;
            }
            long[] both = {arguments[0], Values.parse(element, text, context.heap, context.zone)};
            if ((operator.body().apply(both, 0, context) != 0) == any) {
              return any ? 1 : 0;
            }
          }
          return unknown ? context.nullResult() : any ? 0 : 1;
        });
  }
}
