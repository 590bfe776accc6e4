package dev.kakehashi.engine.type.registry;

import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.engine.type.FunctionContext;
import dev.kakehashi.engine.type.ScalarFunction;
import dev.kakehashi.engine.type.ScalarFunction.Body;
import dev.kakehashi.engine.type.Varlena;
import dev.kakehashi.engine.type.array.ArrayTypes;
import dev.kakehashi.engine.type.array.ArrayValue;
import dev.kakehashi.engine.type.json.JsonMaking;
import dev.kakehashi.engine.type.value.Casts;
import dev.kakehashi.engine.type.value.TextFormat;
import dev.kakehashi.engine.vector.Interrupts;
import dev.kakehashi.protocol.ErrorCode;
import dev.kakehashi.protocol.TypeOid;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/// Functions of any number of arguments that are called with an array in the place of these: `f(..., VARIADIC array)`. Its dimensions do
/// not matter. Thread-safe.
public final class VariadicArrays {
  private VariadicArrays() {}

  /// The function that such a call means; null when there is none.
  ///
  /// @param oids types of the arguments, the last of which is the array
  /// @throws EngineException DATATYPE_MISMATCH when it is none
  public static @Nullable ScalarFunction resolve(String name, int[] oids) {
    ScalarFunction path = JsonMaking.extractedByArray(name, oids);
    if (path != null) {
      return path;
    }
    boolean textFirst = name.equals("concat_ws") || name.equals("format");
    boolean known =
        switch (name) {
          case "concat",
              "concat_ws",
              "format",
              "num_nulls",
              "num_nonnulls",
              "json_build_array",
              "json_build_object",
              "jsonb_build_array",
              "jsonb_build_object" ->
              true;
          default -> false;
        };
    if (!known
        || oids.length != (textFirst ? 2 : 1)
        || (textFirst && !Casts.isImplicit(oids[0], TypeOid.TEXT))) {
      return null;
    }
    int array = oids[oids.length - 1];
    if (!ArrayTypes.isArray(array)) {
      throw new EngineException(ErrorCode.DATATYPE_MISMATCH, "VARIADIC argument must be an array");
    }
    int[] declared = textFirst ? new int[] {TypeOid.TEXT, array} : new int[] {array};
    return switch (name) {
      case "concat" -> strict(name, declared, TypeOid.TEXT, (a, _, c) -> joined("", a[0], c));
      case "concat_ws" ->
          strict(name, declared, TypeOid.TEXT, (a, _, c) -> joined(Varlena.string(a[0]), a[1], c));
      case "format" ->
          new ScalarFunction(name, declared, TypeOid.TEXT, false, true, VariadicArrays::formatted);
      case "num_nulls" ->
          strict(
              name,
              declared,
              TypeOid.INT4,
              (a, _, _) -> elements(a[0]).stream().filter(Objects::isNull).count());
      case "num_nonnulls" ->
          strict(
              name,
              declared,
              TypeOid.INT4,
              (a, _, _) -> elements(a[0]).stream().filter(Objects::nonNull).count());
      default -> JsonMaking.builtOfArray(name, array);
    };
  }

  private static ScalarFunction strict(String name, int[] declared, int result, Body body) {
    return new ScalarFunction(name, declared, result, true, true, body);
  }

  private static List<@Nullable String> elements(long array) {
    return ArrayTypes.array(array).elements();
  }

  private static long joined(String separator, long array, FunctionContext context) {
    StringBuilder joined = new StringBuilder();
    boolean first = true;
    for (String element : elements(array)) {
      if (element != null) {
        joined.append(first ? "" : separator).append(element);
        first = false;
        Interrupts.check();
      }
    }
    return Varlena.of(context.heap, joined.toString());
  }

  private static long formatted(long[] a, long nulls, FunctionContext context) {
    if ((nulls & 1) != 0) {
      return context.nullResult();
    }
    // No array is an empty one.
    List<@Nullable String> elements =
        (nulls & 2) != 0 ? ArrayValue.EMPTY.elements() : elements(a[1]);
    String text =
        TextFormat.format(Varlena.string(a[0]), 1 + elements.size(), i -> elements.get(i - 1));
    return Varlena.of(context.heap, text);
  }
}
