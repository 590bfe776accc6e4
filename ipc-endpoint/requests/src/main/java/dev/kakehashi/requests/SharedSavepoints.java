package dev.kakehashi.requests;

import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.protocol.ErrorCode;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/// The savepoints of a transaction that several clients may use: each counts its levels by itself, and does not know of the others'.
///
/// The engine has one stack of levels. A client's new level is a new one on top of it. A level that a client releases stays in the engine
/// while a level of another client lies above: that one may still be rolled back. A rollback ends the engine's levels above, also those of
/// others; they begin anew where it has led. So clients that end their levels in any order find what they need: the two servers of one
/// backend above all, which hear of the end of a subtransaction one after the other.
///
/// A client is whatever names it, by identity of a session. Poller only. The engine takes its calls in the same order.
final class SharedSavepoints {
  /// Levels of each client, by its level less 1: the engine's level, never less than that of the level below.
  private final Map<Object, List<Integer>> levels = new HashMap<>(2);

  /// Levels that the engine has.
  private int engineLevels;

  /// Sets the savepoint of a client's level, and of those below that have none.
  ///
  /// @return the engine's level to set
  /// @throws EngineException INVALID_PARAMETER_VALUE if it has it
  int set(Object client, int level) {
    List<Integer> own = levels.computeIfAbsent(client, key -> new ArrayList<>(2));
    if (level <= own.size()) {
      throw new EngineException(
          ErrorCode.INVALID_PARAMETER_VALUE, "savepoint " + level + " already exists");
    }
    engineLevels++;
    while (own.size() < level) {
      own.add(engineLevels);
    }
    return engineLevels;
  }

  /// Takes a client's level and those above away.
  ///
  /// @return the engine's level to release; 0: none, others need them
  /// @throws EngineException NO_SUCH_SAVEPOINT
  int release(Object client, int level) {
    List<Integer> own = existing(client, level);
    truncate(own, level - 1);
    int needed = 0;
    for (List<Integer> each : levels.values()) {
      needed = each.isEmpty() ? needed : Math.max(needed, each.getLast());
    }
    if (needed == engineLevels) {
      return 0;
    }
    engineLevels = needed;
    return needed + 1;
  }

  /// Goes back to a client's level, which stays; its own ones above go.
  ///
  /// @return the engine's level to roll back to
  /// @throws EngineException NO_SUCH_SAVEPOINT
  int rollbackTo(Object client, int level) {
    List<Integer> own = existing(client, level);
    truncate(own, level);
    int target = own.getLast();
    for (List<Integer> each : levels.values()) {
      each.replaceAll(engineLevel -> Math.min(engineLevel, target));
    }
    engineLevels = target;
    return target;
  }

  /// The client is gone, and its levels with it.
  void forget(Object client) {
    levels.remove(client);
  }

  private List<Integer> existing(Object client, int level) {
    List<Integer> own = levels.get(client);
    if (own == null || level < 1 || level > own.size()) {
      throw new EngineException(
          ErrorCode.NO_SUCH_SAVEPOINT, "savepoint " + level + " does not exist");
    }
    return own;
  }

  private static void truncate(List<Integer> levels, int size) {
    while (levels.size() > size) {
      levels.removeLast();
    }
  }
}
