package dev.kakehashi.engine.catalog;

import java.util.List;
import org.jspecify.annotations.Nullable;

/// A view as of one version of the catalogue.
///
/// @param text the query as written
/// @param sources what the query calls each column: columns that its tables get later are none of the view's
/// @param columns names and types, which stay whatever becomes of the tables
/// @param comment what COMMENT said, or null
public record View(
    String schema,
    String name,
    long viewId,
    String text,
    List<String> sources,
    List<Column> columns,
    @Nullable String comment) {
  public View withComment(@Nullable String said) {
    return new View(schema, name, viewId, text, sources, columns, said);
  }

  /// The same view with other comments on its columns, or more of them.
  public View withColumns(List<Column> newColumns) {
    return new View(schema, name, viewId, text, sources, List.copyOf(newColumns), comment);
  }

  /// The same view under another name.
  public View named(String newSchema, String newName) {
    return new View(newSchema, newName, viewId, text, sources, columns, comment);
  }

  /// Its columns in the form of a table that the store does not have.
  public Table form() {
    return new Table(schema, name, viewId, columns, List.of()).withComment(comment);
  }
}
