package dev.kakehashi.engine.ddl;

import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.engine.catalog.Column;
import dev.kakehashi.engine.type.SqlErrors;
import dev.kakehashi.protocol.ErrorCode;
import java.util.Collection;
import java.util.HashSet;
import java.util.Set;

/// Names that columns can have. Names of PostgreSQL's system columns are taken, because a foreign table could not have them.
final class ColumnNames {
  private ColumnNames() {}

  static boolean isSystem(String name) {
    return Column.isSystemName(name);
  }

  /// @throws EngineException DUPLICATE_COLUMN
  static void refuseSystem(String name) {
    if (isSystem(name)) {
      throw new EngineException(
          ErrorCode.DUPLICATE_COLUMN,
          "column name \"" + name + "\" conflicts with a system column name");
    }
  }

  /// @throws EngineException DUPLICATE_COLUMN
  static void refuseDuplicates(Collection<String> names) {
    Set<String> seen = new HashSet<>();
    for (String name : names) {
      if (!seen.add(name)) {
        throw new EngineException(
            ErrorCode.DUPLICATE_COLUMN, "column \"" + name + "\" specified more than once");
      }
    }
    names.forEach(ColumnNames::refuseSystem);
  }

  /// @param verb what is not done to a system column
  /// @throws EngineException FEATURE_NOT_SUPPORTED
  static void refuseToChange(String name, String verb) {
    if (isSystem(name)) {
      throw SqlErrors.notSupported("cannot " + verb + " system column \"" + name + "\"");
    }
  }

  /// @throws EngineException FEATURE_NOT_SUPPORTED
  static void refuseKey(String name) {
    if (isSystem(name)) {
      throw SqlErrors.notSupported("keys over system columns are not supported");
    }
  }
}
