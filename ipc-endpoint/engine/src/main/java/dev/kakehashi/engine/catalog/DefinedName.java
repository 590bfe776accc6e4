package dev.kakehashi.engine.catalog;

/// A name that means one thing at most, so that who gives or takes it has it for himself until he has committed.
///
/// @param schema of what is in a schema, or a schema itself; empty: an entry about rights
/// @param object name of a table, index, sequence, view or queue, or key of an entry; empty: the schema itself
public record DefinedName(String schema, String object) {
  /// The schema that it is in.
  DefinedName container() {
    return new DefinedName(schema, "");
  }
}
