package dev.kakehashi.engine.type.array;

import static dev.kakehashi.protocol.TypeOid.INT4;

import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.engine.type.FunctionContext;
import dev.kakehashi.engine.type.SqlErrors;
import dev.kakehashi.engine.type.Types;
import dev.kakehashi.engine.type.registry.PolymorphicFunctions;
import dev.kakehashi.engine.type.value.Ordering;
import dev.kakehashi.engine.type.value.Values;
import dev.kakehashi.protocol.ErrorCode;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/// width_bucket() of an ascending array of lower bounds: how many of them are not greater than the operand.
final class ArrayBuckets {
  private ArrayBuckets() {}

  static void register(PolymorphicFunctions set) {
    set.add(
        "width_bucket",
        "width_bucket(anycompatible, anycompatiblearray) → integer",
        oids -> {
          int[] declared = ArrayTypes.declared("ea", oids);
          return declared == null
              ? null
              : ArrayTypes.function(
                  "width_bucket",
                  declared,
                  INT4,
                  declared[0],
                  true,
                  (a, _, c) -> bucket(declared[0], a[0], ArrayTypes.array(a[1]), c));
        });
  }

  private static long bucket(int oid, long operand, ArrayValue bounds, FunctionContext context) {
    if (bounds.dimensions() > 1) {
      throw SqlErrors.arraySubscript("thresholds must be one-dimensional array");
    }
    List<@Nullable String> elements = bounds.elements();
    if (elements.stream().anyMatch(Objects::isNull)) {
      throw new EngineException(
          ErrorCode.NULL_VALUE_NOT_ALLOWED, "thresholds array must not contain NULLs");
    }
    Types.requireOrder(oid);
    int low = 0;
    int high = elements.size();
    while (low < high) {
      int middle = (low + high) >>> 1;
      long bound =
          Values.parse(
              oid, Objects.requireNonNull(elements.get(middle)), context.heap, context.zone);
      if (Ordering.compare(oid, operand, bound) < 0) {
        high = middle;
      } else {
        low = middle + 1;
      }
    }
    return low;
  }
}
