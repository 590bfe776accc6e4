package dev.kakehashi.engine.txn;

import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.protocol.ErrorCode;
import java.util.ArrayList;
import java.util.List;

/// The savepoints of a transaction, by level. Used by the operation that has the transaction's turn, but for [#clock()].
final class Savepoints {
  /// State that a savepoint goes back to: a mark of the store, the deferred constraints, and the time.
  record Savepoint(long mark, DeferredConstraints.State deferred, long time) {}

  private final SavepointClock clock = new SavepointClock();

  /// One per level.
  private final List<Savepoint> levels = new ArrayList<>(2);

  SavepointClock clock() {
    return clock;
  }

  /// Sets the savepoint of a level, and of those below that have none.
  ///
  /// @throws EngineException INVALID_PARAMETER_VALUE
  void set(int level, long mark, DeferredConstraints.State deferred) {
    if (level <= levels.size()) {
      throw new EngineException(
          ErrorCode.INVALID_PARAMETER_VALUE, "savepoint " + level + " already exists");
    }
    Savepoint savepoint = new Savepoint(mark, deferred, clock.savepoint());
    while (levels.size() < level) {
      levels.add(savepoint);
    }
  }

  /// Takes the savepoints of a level and above away.
  ///
  /// @throws EngineException NO_SUCH_SAVEPOINT
  void release(int level) {
    get(level);
    truncate(level - 1);
  }

  int depth() {
    return levels.size();
  }

  boolean has(int level) {
    return level >= 1 && level <= levels.size();
  }

  /// @throws EngineException NO_SUCH_SAVEPOINT
  Savepoint get(int level) {
    if (!has(level)) {
      throw new EngineException(
          ErrorCode.NO_SUCH_SAVEPOINT, "savepoint " + level + " does not exist");
    }
    return levels.get(level - 1);
  }

  /// Changes after a savepoint are undone, and the savepoints above it are gone.
  void undone(int level) {
    clock.rollbackTo(get(level).time());
    truncate(level);
  }

  private void truncate(int size) {
    while (levels.size() > size) {
      levels.removeLast();
    }
  }
}
