package dev.kakehashi.engine.type.registry;

import dev.kakehashi.engine.type.AggregateFunction;
import dev.kakehashi.engine.type.Types;
import dev.kakehashi.engine.type.aggregate.CollectingAggregates;
import dev.kakehashi.engine.type.aggregate.StandardAggregates;
import dev.kakehashi.engine.type.array.ArrayTypes;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/// Finds aggregate functions by name and argument types, as PostgreSQL does. Thread-safe.
public final class Aggregates {
  private static final Map<String, List<AggregateFunction>> BY_NAME =
      StandardAggregates.all().stream().collect(Collectors.groupingBy(AggregateFunction::name));

  private static final Set<String> HYPOTHETICAL =
      Set.of("rank", "dense_rank", "percent_rank", "cume_dist");

  /// The value of a scalar subquery; for plans, no user can call it.
  public static final String SINGLE_VALUE = "single_value";

  private Aggregates() {}

  /// The aggregate that PostgreSQL would take; null when there is none.
  ///
  /// @param argumentOids none for count(*)
  /// @throws dev.kakehashi.engine.api.error.EngineException AMBIGUOUS_FUNCTION when several fit equally well
  public static @Nullable AggregateFunction resolve(String name, int[] argumentOids) {
    if (name.equals("count") && argumentOids.length <= 1) {
      return StandardAggregates.count(argumentOids);
    }
    if (name.equals(SINGLE_VALUE) && argumentOids.length == 1) {
      return StandardAggregates.singleValue(argumentOids[0]);
    }
    if (CollectingAggregates.contains(name)) {
      return CollectingAggregates.resolve(name, argumentOids);
    }
    if (isOrderedSet(name)) {
      return argumentOids.length == 0 ? null : StandardAggregates.orderedSet(name, argumentOids);
    }
    if ((name.equals("min") || name.equals("max"))
        && argumentOids.length == 1
        && ArrayTypes.isArray(argumentOids[0])) {
      return StandardAggregates.extreme(name, argumentOids[0]);
    }
    return Overloads.resolve(
        name, BY_NAME.getOrDefault(name, List.of()), AggregateFunction::argumentOids, argumentOids);
  }

  /// The aggregate of a plan. It has the least and the greatest of every type with an order: `<` and its like with ANY and ALL of a
  /// query are made of them, also of types for which nobody can call min and max.
  ///
  /// @param argumentOids of a call that the binder has resolved, or of one that the optimizer has made
  public static @Nullable AggregateFunction ofPlan(String name, int[] argumentOids) {
    return (name.equals("min") || name.equals("max"))
            && argumentOids.length == 1
            && Types.hasOrder(argumentOids[0])
        ? StandardAggregates.extreme(name, argumentOids[0])
        : resolve(name, argumentOids);
  }

  /// Whether the name is an aggregate's that needs WITHIN GROUP.
  public static boolean isOrderedSet(String name) {
    return name.equals("percentile_cont") || name.equals("percentile_disc") || name.equals("mode");
  }

  /// Whether the name is that of an aggregate about a row that there might be, with WITHIN GROUP; without, it is a window function's.
  public static boolean isHypothetical(String name) {
    return HYPOTHETICAL.contains(name);
  }

  /// Whether the name is an aggregate function's.
  public static boolean isAggregate(String name) {
    return name.equals("count")
        || isOrderedSet(name)
        || CollectingAggregates.contains(name)
        || BY_NAME.containsKey(name);
  }

  /// Every aggregate but count, for tests and catalogue views.
  public static List<AggregateFunction> all() {
    return BY_NAME.values().stream().flatMap(List::stream).toList();
  }
}
