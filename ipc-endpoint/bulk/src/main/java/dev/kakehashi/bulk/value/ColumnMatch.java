package dev.kakehashi.bulk.value;

import dev.kakehashi.engine.api.bulk.LoadColumn;
import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.protocol.ErrorCode;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;

/// Which column of a file goes into which column of a table. Immutable.
///
/// @param sources indices of the file's columns
/// @param targets indices of the table's, in ascending order
public record ColumnMatch(List<Integer> sources, List<Integer> targets) {
  /// By name: as it is, or in other case if that is unique. By position: the first with the first.
  ///
  /// @param file for messages
  /// @param names of the file's columns
  /// @param listed whether each of the columns has to be there
  /// @param refusesExtra whether each of the file's columns has to be loaded
  /// @throws EngineException UNDEFINED_COLUMN, AMBIGUOUS_COLUMN, BAD_COPY_FILE_FORMAT
  public static ColumnMatch of(
      String file,
      List<String> names,
      List<LoadColumn> columns,
      boolean listed,
      boolean byPosition,
      boolean refusesExtra) {
    List<Integer> sources = new ArrayList<>();
    List<Integer> targets = new ArrayList<>();
    Map<String, List<Integer>> exact = new HashMap<>();
    Map<String, List<Integer>> folded = new HashMap<>();
    for (int i = 0; i < names.size(); i++) {
      exact.computeIfAbsent(names.get(i), name -> new ArrayList<>()).add(i);
      folded
          .computeIfAbsent(names.get(i).toLowerCase(Locale.ROOT), name -> new ArrayList<>())
          .add(i);
    }
    for (int target = 0; target < columns.size(); target++) {
      String name = columns.get(target).name();
      List<Integer> found;
      if (byPosition) {
        found = target < names.size() ? List.of(target) : List.of();
      } else {
        found = exact.getOrDefault(name, List.of());
        if (found.isEmpty()) {
          found = folded.getOrDefault(name.toLowerCase(Locale.ROOT), List.of());
        }
      }
      if (found.size() > 1) {
        throw new EngineException(
                ErrorCode.AMBIGUOUS_COLUMN,
                "file \"%s\" has several columns \"%s\"".formatted(file, name))
            .withColumn(name);
      }
      if (!found.isEmpty()) {
        sources.add(found.getFirst());
        targets.add(target);
      } else if (listed) {
        throw new EngineException(
                ErrorCode.UNDEFINED_COLUMN,
                byPosition
                    ? "file \"%s\" has %d columns, none for \"%s\""
                        .formatted(file, names.size(), name)
                    : "file \"%s\" has no column \"%s\"".formatted(file, name))
            .withColumn(name);
      }
    }
    check(file, names, sources, refusesExtra);
    return new ColumnMatch(
        Collections.unmodifiableList(sources), Collections.unmodifiableList(targets));
  }

  private static void check(
      String file, List<String> names, List<Integer> sources, boolean refusesExtra) {
    if (sources.isEmpty()) {
      throw new EngineException(
              ErrorCode.UNDEFINED_COLUMN, "file \"%s\" has no column of the table".formatted(file))
          .withDetail("It has " + shown(names) + ".");
    }
    Set<Integer> loaded = new HashSet<>(sources);
    for (int i = 0; refusesExtra && i < names.size(); i++) {
      if (!loaded.contains(i)) {
        throw new EngineException(
            ErrorCode.BAD_COPY_FILE_FORMAT,
            "file \"%s\" has a column \"%s\" that is not loaded".formatted(file, names.get(i)));
      }
    }
  }

  private static String shown(List<String> names) {
    int most = 20;
    String shown = String.join(", ", names.subList(0, Math.min(most, names.size())));
    return names.size() > most ? shown + ", …" : shown;
  }

  /// The table's columns, as [dev.kakehashi.bulk.format.RowsFile#columns] wants them.
  public int[] targetArray() {
    return targets.stream().mapToInt(Integer::intValue).toArray();
  }
}
