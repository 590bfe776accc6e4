package dev.kakehashi.pgtests.difference;

import java.util.ArrayList;
import java.util.List;

/// Statements of one seed.
///
/// @param settings before them
/// @param ordered whether the order of rows counts
/// @param changing whether they change table `w`, in a transaction
/// @param commits whether that transaction commits
record Program(
    long seed,
    List<String> settings,
    List<String> statements,
    boolean ordered,
    boolean changing,
    boolean commits) {
  /// Settings of the planner that are on by default, and settings that are off.
  private static final List<String> ON =
      List.of(
          "enable_async_append",
          "enable_bitmapscan",
          "enable_gathermerge",
          "enable_hashagg",
          "enable_hashjoin",
          "enable_incremental_sort",
          "enable_indexonlyscan",
          "enable_indexscan",
          "enable_material",
          "enable_memoize",
          "enable_mergejoin",
          "enable_nestloop",
          "enable_parallel_append",
          "enable_parallel_hash",
          "enable_partition_pruning",
          "enable_seqscan",
          "enable_sort",
          "enable_tidscan");

  private static final List<String> OFF =
      List.of("enable_partitionwise_aggregate", "enable_partitionwise_join");

  static Program of(long seed) {
    Dice dice = new Dice(seed);
    List<String> settings = settings(dice);
    if (dice.oneIn(5)) {
      return new Program(seed, settings, new Changes(dice).next(), false, true, dice.oneIn(5));
    }
    int mode = dice.below(10);
    if (mode < 2) {
      dice.parameterize();
    }
    Selects.Query query = dice.oneIn(3) ? new Extremes(dice).next() : new Selects(dice).next();
    List<String> statements =
        mode < 2
            ? dice.prepared(query.sql())
            : mode == 2 && query.ordered() ? cursor(dice, query.sql()) : List.of(query.sql());
    return new Program(seed, settings, statements, query.ordered(), false, false);
  }

  private static List<String> settings(Dice dice) {
    return switch (dice.below(10)) {
      case 0 -> List.of("SET enable_hashjoin = off");
      case 1 -> List.of("SET enable_mergejoin = off", "SET enable_nestloop = off");
      case 2 -> List.of("SET enable_hashagg = off", "SET enable_sort = off");
      case 3 -> List.of("SET enable_hashjoin = off", "SET enable_mergejoin = off");
      case 4 -> List.of("SET plan_cache_mode = force_generic_plan");
      case 5, 6, 7 -> turned(dice);
      default -> List.of();
    };
  }

  /// Some of the planner's settings, against their defaults.
  static List<String> turned(Dice dice) {
    List<String> settings = new ArrayList<>();
    for (String name : ON) {
      if (dice.oneIn(6)) {
        settings.add("SET " + name + " = off");
      }
    }
    for (String name : OFF) {
      if (dice.oneIn(2)) {
        settings.add("SET " + name + " = on");
      }
    }
    return settings;
  }

  private static List<String> cursor(Dice dice, String query) {
    return List.of(
        "BEGIN",
        "DECLARE c "
            + dice.pick("", "SCROLL ")
            + "CURSOR "
            + dice.pick("", "WITH HOLD ")
            + "FOR "
            + query,
        "FETCH 2 FROM c",
        "SAVEPOINT s",
        "FETCH 3 FROM c",
        dice.pick("RELEASE SAVEPOINT s", "ROLLBACK TO SAVEPOINT s"),
        "FETCH ALL FROM c",
        "CLOSE c",
        "COMMIT");
  }

  @Override
  public String toString() {
    return String.join(";\n", settings)
        + (settings.isEmpty() ? "" : ";\n")
        + String.join(";\n", statements);
  }
}
