package dev.kakehashi.engine.catalog;

import dev.kakehashi.engine.rights.Rights;
import dev.kakehashi.engine.store.api.ColumnKind;
import dev.kakehashi.engine.store.api.TableDefinition;
import dev.kakehashi.engine.type.Types;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/// A table as of one version of the catalogue.
///
/// @param tableId the store's number; negative for system tables, which the store does not have
/// @param indexes positions as in the store
/// @param comment what COMMENT said, or null
/// @param constraintComments what COMMENT said about constraints, by their names; what is said about one that is gone goes
/// @param rights whose it is, and what was granted on it as a whole
public record Table(
    String schema,
    String name,
    long tableId,
    List<Column> columns,
    List<Index> indexes,
    List<CheckConstraint> checks,
    List<ForeignKey> foreignKeys,
    @Nullable String comment,
    Map<String, String> constraintComments,
    Rights rights) {
  public Table {
    Map<String, String> present = new TreeMap<>(constraintComments);
    present
        .keySet()
        .removeIf(constraint -> !hasConstraint(constraint, indexes, checks, foreignKeys));
    constraintComments = Collections.unmodifiableMap(present);
  }

  /// A table without CHECK constraints, foreign keys and comment.
  public Table(
      String schema, String name, long tableId, List<Column> columns, List<Index> indexes) {
    this(
        schema,
        name,
        tableId,
        columns,
        indexes,
        List.of(),
        List.of(),
        null,
        Map.of(),
        Rights.INITIAL);
  }

  public boolean isSystem() {
    return tableId < 0;
  }

  /// Position of a column, or -1.
  public int columnIndex(String columnName) {
    for (int i = 0; i < columns.size(); i++) {
      if (columns.get(i).name().equals(columnName)) {
        return i;
      }
    }
    return -1;
  }

  /// Whether it has columns for expressions of indexes.
  public boolean hasHidden() {
    return columns.stream().anyMatch(Column::hidden);
  }

  /// Whether an index is over an expression.
  public boolean hasExpression(Index index) {
    return index.columns().stream().anyMatch(column -> columns.get(column).hidden());
  }

  public @Nullable Index primaryKey() {
    for (Index index : indexes) {
      if (index.primary()) {
        return index;
      }
    }
    return null;
  }

  /// The physical side.
  public TableDefinition definition() {
    List<ColumnKind> kinds = new ArrayList<>();
    List<Boolean> notNull = new ArrayList<>();
    for (Column column : columns) {
      kinds.add(Types.kind(column.type().oid()).stored());
      notNull.add(column.notNull());
    }
    return new TableDefinition(
        tableId, kinds, notNull, indexes.stream().map(Index::definition).toList());
  }

  /// Whether a constraint of it has the name.
  public boolean hasConstraint(String constraint) {
    return hasConstraint(constraint, indexes, checks, foreignKeys);
  }

  private static boolean hasConstraint(
      String constraint,
      List<Index> indexes,
      List<CheckConstraint> checks,
      List<ForeignKey> foreignKeys) {
    return indexes.stream().anyMatch(i -> i.constraint() && i.name().equals(constraint))
        || checks.stream().anyMatch(check -> check.name().equals(constraint))
        || foreignKeys.stream().anyMatch(key -> key.name().equals(constraint));
  }

  /// The same table under another name.
  public Table withName(String newName) {
    return named(schema, newName, tableId);
  }

  public Table withSchema(String newSchema) {
    return named(newSchema, name, tableId);
  }

  /// The same form for a table that takes its place.
  public Table renumbered(long newId) {
    return named(schema, name, newId);
  }

  /// The same table with other columns; indexes and constraints name columns by position.
  public Table withColumns(List<Column> newColumns) {
    return of(newColumns, indexes, checks, foreignKeys);
  }

  /// The same table with other CHECK constraints.
  public Table withChecks(List<CheckConstraint> newChecks) {
    return of(columns, indexes, newChecks, foreignKeys);
  }

  /// The same table with other foreign keys.
  public Table withForeignKeys(List<ForeignKey> newKeys) {
    return of(columns, indexes, checks, newKeys);
  }

  /// A unique index over exactly these columns, in any order, or null.
  public @Nullable Index uniqueIndex(List<Integer> keyColumns) {
    for (Index index : indexes) {
      if (index.isKey()
          && index.columns().size() == keyColumns.size()
          && index.columns().containsAll(keyColumns)) {
        return index;
      }
    }
    return null;
  }

  /// The same table with other indexes.
  public Table withIndexes(List<Index> newIndexes) {
    return of(columns, newIndexes, checks, foreignKeys);
  }

  public Table withComment(@Nullable String text) {
    return commented(text, constraintComments);
  }

  /// @param text null: none any more
  public Table withConstraintComment(String constraint, @Nullable String text) {
    Map<String, String> comments = new TreeMap<>(constraintComments);
    if (text == null) {
      comments.remove(constraint);
    } else {
      comments.put(constraint, text);
    }
    return commented(comment, comments);
  }

  /// The same table of another owner, or with other grants.
  public Table withRights(Rights newRights) {
    return new Table(
        schema,
        name,
        tableId,
        columns,
        indexes,
        checks,
        foreignKeys,
        comment,
        constraintComments,
        newRights);
  }

  private Table named(String newSchema, String newName, long newId) {
    return new Table(
        newSchema,
        newName,
        newId,
        columns,
        indexes,
        checks,
        foreignKeys,
        comment,
        constraintComments,
        rights);
  }

  private Table of(
      List<Column> newColumns,
      List<Index> newIndexes,
      List<CheckConstraint> newChecks,
      List<ForeignKey> newKeys) {
    return new Table(
        schema,
        name,
        tableId,
        List.copyOf(newColumns),
        List.copyOf(newIndexes),
        List.copyOf(newChecks),
        List.copyOf(newKeys),
        comment,
        constraintComments,
        rights);
  }

  private Table commented(@Nullable String newComment, Map<String, String> newComments) {
    return new Table(
        schema,
        name,
        tableId,
        columns,
        indexes,
        checks,
        foreignKeys,
        newComment,
        newComments,
        rights);
  }
}
