package dev.kakehashi.engine.type.registry;

import dev.kakehashi.engine.type.PolymorphicFunction;
import dev.kakehashi.engine.type.ScalarFunction;
import dev.kakehashi.engine.type.array.ArrayFunctions;
import dev.kakehashi.engine.type.array.ArrayOperators;
import dev.kakehashi.engine.type.json.JsonMaking;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/// Functions that are made for the types of their arguments. Thread-safe.
public final class PolymorphicFunctions {
  private static final Map<String, List<PolymorphicFunction>> BY_NAME = new HashMap<>();

  static {
    PolymorphicFunctions functions = new PolymorphicFunctions();
    ArrayFunctions.register(functions);
    ArrayOperators.register(functions);
    JsonMaking.register(functions);
    SystemFunctions.register(functions);
  }

  private PolymorphicFunctions() {}

  /// @param signature for the documentation, with PostgreSQL's names of the polymorphic types
  public void add(String name, String signature, PolymorphicFunction.Resolver resolver) {
    BY_NAME
        .computeIfAbsent(name, _ -> new ArrayList<>())
        .add(new PolymorphicFunction(name, signature, resolver));
  }

  static @Nullable ScalarFunction resolve(String name, int[] oids) {
    for (PolymorphicFunction candidate : BY_NAME.getOrDefault(name, List.of())) {
      ScalarFunction function = candidate.resolver().resolve(oids);
      if (function != null) {
        return function;
      }
    }
    return null;
  }

  /// Every one, for the documentation.
  public static List<PolymorphicFunction> all() {
    return BY_NAME.values().stream().flatMap(List::stream).toList();
  }
}
