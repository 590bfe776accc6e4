package dev.kakehashi.engine.sql.lexer;

import org.jspecify.annotations.Nullable;

/// A name where it stands, with an optional schema.
///
/// @param position its first character in the statement, from 1
public record QualifiedName(@Nullable String schema, String name, int position) {
  /// A column with the name of its table in front.
  public record Column(QualifiedName table, String column) {}
}
