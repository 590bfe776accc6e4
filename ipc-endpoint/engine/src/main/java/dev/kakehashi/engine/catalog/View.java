package dev.kakehashi.engine.catalog;

import dev.kakehashi.engine.rights.Rights;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// A view as of one version of the catalogue.
///
/// @param text the query as written
/// @param sources what the query calls each column: columns that its tables get later are none of the view's
/// @param columns names and types, which stay whatever becomes of the tables
/// @param comment what COMMENT said, or null
/// @param rights whose it is, and what was granted on it as a whole; it reads its tables with the rights of the owner
public record View(
    String schema,
    String name,
    long viewId,
    String text,
    List<String> sources,
    List<Column> columns,
    @Nullable String comment,
    Rights rights) {
  public View withComment(@Nullable String said) {
    return new View(schema, name, viewId, text, sources, columns, said, rights);
  }

  /// The same view with other comments on its columns, or more of them.
  public View withColumns(List<Column> newColumns) {
    return new View(schema, name, viewId, text, sources, List.copyOf(newColumns), comment, rights);
  }

  /// The same view under another name.
  public View named(String newSchema, String newName) {
    return new View(newSchema, newName, viewId, text, sources, columns, comment, rights);
  }

  /// The same view of another owner, or with other grants.
  public View withRights(Rights newRights) {
    return new View(schema, name, viewId, text, sources, columns, comment, newRights);
  }

  /// Its columns in the form of a table that the store does not have.
  public Table form() {
    return new Table(schema, name, viewId, columns, List.of())
        .withComment(comment)
        .withRights(rights);
  }
}
