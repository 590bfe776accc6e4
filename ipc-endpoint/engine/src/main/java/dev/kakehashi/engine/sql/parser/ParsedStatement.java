package dev.kakehashi.engine.sql.parser;

import dev.kakehashi.engine.sql.lexer.QualifiedName;
import dev.kakehashi.engine.sql.spelling.Source;
import dev.kakehashi.engine.sql.spelling.Traversal;
import dev.kakehashi.engine.store.api.LockStrength;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// A statement cut into the pieces that Calcite's parser takes: queries, conditions, expressions.
public sealed interface ParsedStatement {
  /// SELECT, VALUES, TABLE or a set operation.
  record Query(Source text) implements ParsedStatement {}

  /// Named queries in front of a statement.
  record With(List<CommonTable> tables, boolean recursive, ParsedStatement body)
      implements ParsedStatement {}

  /// A query of WITH.
  ///
  /// @param materialized what the statement says about it, or null
  /// @param traversal SEARCH and CYCLE, or null
  record CommonTable(
      QualifiedName name,
      List<String> columns,
      @Nullable Boolean materialized,
      ParsedStatement query,
      @Nullable Traversal traversal) {}

  /// A table to change.
  ///
  /// @param alias null: its name
  record Target(QualifiedName table, @Nullable String alias) {
    public String visibleName() {
      return alias == null ? table.name() : alias;
    }
  }

  /// RETURNING.
  ///
  /// @param list as `select list`
  /// @param before name of the row as it was: `old`, or what WITH says
  /// @param after name of the row as it is then
  /// @param namesVersions whether one of these names is given or may be in the list
  record ReturningClause(
      Source list, VersionName before, VersionName after, boolean namesVersions) {}

  /// The name of a version of a row.
  ///
  /// @param position where the statement gives it, and then no table may have it; 0: nowhere
  record VersionName(String name, int position) {
    /// Names that are given come first, in their order.
    public int turn() {
      return position == 0 ? Integer.MAX_VALUE : position;
    }
  }

  /// INSERT, UPDATE, DELETE or MERGE.
  sealed interface Change extends ParsedStatement {
    Target target();

    @Nullable ReturningClause returning();

    /// Whether RETURNING may name the row before or after the change.
    default boolean returnsVersions() {
      ReturningClause clause = returning();
      return clause != null && clause.namesVersions();
    }
  }

  /// INSERT.
  ///
  /// @param columns empty: all
  /// @param rows null: DEFAULT VALUES
  record Insert(
      Target target,
      List<QualifiedName> columns,
      Overriding overriding,
      @Nullable Source rows,
      @Nullable Conflict conflict,
      @Nullable ReturningClause returning)
      implements Change {}

  /// Treatment of values that INSERT gives for identity columns.
  enum Overriding {
    NOTHING,
    SYSTEM,
    USER
  }

  /// ON CONFLICT.
  ///
  /// @param constraint of ON CONSTRAINT, or null
  /// @param columns of the inference clause; null: there is none
  /// @param expressions of the inference clause
  /// @param predicate of the inference clause, or null
  /// @param position of ON, 1-based in characters
  /// @param targetPosition of what follows ON CONFLICT, 1-based in characters
  record Conflict(
      @Nullable QualifiedName constraint,
      @Nullable List<QualifiedName> columns,
      List<Source> expressions,
      @Nullable Source predicate,
      ConflictAction action,
      int position,
      int targetPosition) {
    boolean hasTarget() {
      return constraint != null || columns != null;
    }
  }

  /// The fate of a row that exists.
  sealed interface ConflictAction {}

  /// DO NOTHING.
  record ConflictNothing() implements ConflictAction {}

  /// DO SELECT.
  ///
  /// @param lock of its FOR clause, or null
  record ConflictSelect(@Nullable LockStrength lock, @Nullable Source where)
      implements ConflictAction {}

  /// DO UPDATE.
  record ConflictUpdate(List<Assignment> assignments, @Nullable Source where)
      implements ConflictAction {}

  /// One item of SET: a column, or several by a row or a subquery.
  ///
  /// @param elements for each column null, or the part of it that is set, as an expression: `a[1]`
  record Assignment(
      List<QualifiedName> columns,
      List<@Nullable Source> elements,
      boolean multiple,
      Source value) {}

  /// UPDATE.
  ///
  /// @param from as `select * from`, or null
  record Update(
      Target target,
      List<Assignment> assignments,
      @Nullable Source from,
      @Nullable Source where,
      @Nullable ReturningClause returning)
      implements Change {}

  /// DELETE.
  ///
  /// @param using as `select * from`, or null
  record Delete(
      Target target,
      @Nullable Source using,
      @Nullable Source where,
      @Nullable ReturningClause returning)
      implements Change {}

  /// MERGE.
  ///
  /// @param using as `select * from`
  record Merge(
      Target target,
      Source using,
      Source condition,
      List<When> clauses,
      @Nullable ReturningClause returning)
      implements Change {}

  /// Rows that a WHEN of MERGE is about.
  enum Match {
    MATCHED,
    NOT_MATCHED_BY_TARGET,
    NOT_MATCHED_BY_SOURCE
  }

  /// A WHEN of MERGE.
  ///
  /// @param condition of AND, or null
  record When(Match match, @Nullable Source condition, MergeAction action, int position) {}

  /// Action of a WHEN of MERGE.
  sealed interface MergeAction {}

  /// DO NOTHING.
  record MergeNothing() implements MergeAction {}

  /// DELETE.
  record MergeDelete() implements MergeAction {}

  /// UPDATE.
  record MergeUpdate(List<Assignment> assignments) implements MergeAction {}

  /// INSERT.
  ///
  /// @param columns empty: all
  /// @param row a VALUES of one row; null: DEFAULT VALUES
  record MergeInsert(List<QualifiedName> columns, Overriding overriding, @Nullable Source row)
      implements MergeAction {}
}
