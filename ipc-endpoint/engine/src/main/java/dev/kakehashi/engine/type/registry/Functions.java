package dev.kakehashi.engine.type.registry;

import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.engine.type.CastContext;
import dev.kakehashi.engine.type.FunctionSet;
import dev.kakehashi.engine.type.ScalarFunction;
import dev.kakehashi.engine.type.SqlType;
import dev.kakehashi.engine.type.Types;
import dev.kakehashi.engine.type.access.AccessFunctions;
import dev.kakehashi.engine.type.json.JsonFunctions;
import dev.kakehashi.engine.type.number.FloatFunctions;
import dev.kakehashi.engine.type.number.NumberFunctions;
import dev.kakehashi.engine.type.numeric.NumericFunctions;
import dev.kakehashi.engine.type.queue.QueueFunctions;
import dev.kakehashi.engine.type.text.TextFunctions;
import dev.kakehashi.engine.type.time.DateTimeFunctions;
import dev.kakehashi.engine.type.value.Casts;
import dev.kakehashi.engine.type.value.Comparisons;
import dev.kakehashi.engine.type.value.TextConversions;
import dev.kakehashi.engine.type.value.UuidFunctions;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/// Finds functions and operators by name and argument types, as PostgreSQL does.
///
/// Operators have their PostgreSQL names: "+", "<>", "||", "~~" (LIKE), "!~~", "~~*" (ILIKE); a prefix operator is one with one argument.
/// The special forms (AND, CASE, COALESCE, NULLIF, GREATEST, IS NULL ...) belong to the caller.
///
/// The resolved function's [ScalarFunction#argumentOids()] may differ from the types asked for: the caller converts each argument with
/// [Casts#find] in [CastContext#IMPLICIT]. A by-reference result may be an argument's word, so arguments must live as long as results.
/// Thread-safe.
public final class Functions {
  private static final FunctionSet SET = new FunctionSet();

  /// Types whose names call their conversions: `date(now())`.
  private static final Set<String> TYPE_FUNCTIONS =
      Set.of(
          "bool",
          "bpchar",
          "bytea",
          "date",
          "float4",
          "float8",
          "int2",
          "int4",
          "int8",
          "json",
          "jsonb",
          "text",
          "timestamptz",
          "uuid");

  static {
    Comparisons.register(SET);
    NumberFunctions.register(SET);
    FloatFunctions.register(SET);
    NumericFunctions.register(SET);
    DateTimeFunctions.register(SET);
    TextFunctions.register(SET);
    TextConversions.register(SET);
    UuidFunctions.register(SET);
    VolatileFunctions.register(SET);
    JsonFunctions.register(SET);
    SystemFunctions.register(SET);
    AccessFunctions.register(SET);
    QueueFunctions.register(SET);
  }

  private Functions() {}

  /// The function that PostgreSQL would take; null when there is none.
  ///
  /// @param argumentOids types of the arguments; [Types#UNKNOWN] for a string literal or NULL without type
  /// @throws EngineException AMBIGUOUS_FUNCTION when several fit equally well
  public static @Nullable ScalarFunction resolve(String name, int[] argumentOids) {
    ScalarFunction variadic = TextConversions.variadic(name, argumentOids);
    if (variadic != null) {
      return variadic;
    }
    ScalarFunction polymorphic = PolymorphicFunctions.resolve(name, argumentOids);
    if (polymorphic != null) {
      return polymorphic;
    }
    ScalarFunction function =
        Overloads.resolve(name, SET.candidates(name), ScalarFunction::argumentOids, argumentOids);
    return function == null && argumentOids.length == 1 && TYPE_FUNCTIONS.contains(name)
        ? Casts.find(argumentOids[0], SqlType.of(Types.oid(name)), CastContext.EXPLICIT)
        : function;
  }

  /// Every function, for tests and catalogue views.
  public static List<ScalarFunction> all() {
    return SET.all();
  }

  /// The call as PostgreSQL's messages show it, for example "lower(integer)" or "text + integer".
  public static String describe(String name, int[] oids) {
    List<String> types = new ArrayList<>();
    for (int oid : oids) {
      types.add(Types.name(oid));
    }
    if (!Overloads.isOperator(name)) {
      return name + "(" + String.join(", ", types) + ")";
    }
    return types.size() == 1
        ? name + " " + types.get(0)
        : types.get(0) + " " + name + " " + types.get(1);
  }
}
