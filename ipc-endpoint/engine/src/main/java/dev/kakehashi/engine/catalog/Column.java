package dev.kakehashi.engine.catalog;

import dev.kakehashi.engine.type.SqlType;
import org.jspecify.annotations.Nullable;

/// A column of a table.
///
/// @param defaultText SQL expression of the default as written, or null
public record Column(String name, SqlType type, boolean notNull, @Nullable String defaultText) {
  public Column withName(String newName) {
    return new Column(newName, type, notNull, defaultText);
  }

  public Column withType(SqlType newType) {
    return new Column(name, newType, notNull, defaultText);
  }

  public Column withNotNull(boolean refusesNull) {
    return new Column(name, type, refusesNull, defaultText);
  }

  public Column withDefault(@Nullable String text) {
    return new Column(name, type, notNull, text);
  }
}
