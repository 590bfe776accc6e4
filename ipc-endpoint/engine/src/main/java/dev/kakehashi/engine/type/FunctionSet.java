package dev.kakehashi.engine.type;

import dev.kakehashi.engine.type.ScalarFunction.Body;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/// Functions under construction, by name. Not thread-safe; published through a static initializer.
public final class FunctionSet {
  private final Map<String, List<ScalarFunction>> byName = new HashMap<>();

  /// Adds a strict, immutable function.
  public FunctionSet add(String name, int resultOid, Body body, int... argumentOids) {
    return add(new ScalarFunction(name, argumentOids, resultOid, true, true, body));
  }

  /// Adds a strict function whose result depends on the session or the transaction.
  public FunctionSet addStable(String name, int resultOid, Body body, int... argumentOids) {
    return add(new ScalarFunction(name, argumentOids, resultOid, true, false, body));
  }

  public FunctionSet add(ScalarFunction function) {
    byName.computeIfAbsent(function.name(), _ -> new ArrayList<>()).add(function);
    return this;
  }

  public List<ScalarFunction> candidates(String name) {
    return byName.getOrDefault(name, List.of());
  }

  public List<ScalarFunction> all() {
    return byName.values().stream().flatMap(List::stream).toList();
  }
}
