package dev.kakehashi.engine.sql.parser;

import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.engine.catalog.Column;
import dev.kakehashi.engine.catalog.ForeignKey;
import dev.kakehashi.engine.sql.lexer.QualifiedName;
import dev.kakehashi.engine.type.SqlType;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/// A parsed DDL statement.
public sealed interface DdlStatement {
  /// Name of the statement in errors: CREATE TABLE.
  default String command() {
    return getClass()
        .getSimpleName()
        .replaceAll("(?<=[a-z])(?=[A-Z])", " ")
        .toUpperCase(Locale.ROOT);
  }

  /// @param sequence of a serial or identity column, or null
  /// @param generation expression of a generated column, or null
  /// @param conflict of two clauses, to be thrown if the column is made; null: none
  record ColumnDefinition(
      String name,
      SqlType type,
      boolean notNull,
      @Nullable String defaultText,
      @Nullable SequenceColumn sequence,
      @Nullable String generation,
      @Nullable EngineException conflict) {
    /// @throws EngineException if two of its clauses contradict each other
    public void requireNoConflict() {
      if (conflict != null) {
        throw conflict;
      }
    }
  }

  /// How the values of a serial or identity column come about.
  record SequenceColumn(Column.Generated generated, SequenceOptions options) {}

  record CreateSequence(QualifiedName name, boolean ifNotExists, SequenceOptions options)
      implements DdlStatement {}

  record AlterSequence(QualifiedName name, boolean ifExists, SequenceOptions options)
      implements DdlStatement {}

  /// ALTER SEQUENCE or ALTER VIEW ... RENAME TO or SET SCHEMA.
  ///
  /// @param to the new name; null: stays
  /// @param schema the new schema; null: stays
  record AlterName(
      boolean view,
      QualifiedName name,
      boolean ifExists,
      @Nullable String to,
      @Nullable String schema)
      implements DdlStatement {
    @Override
    public String command() {
      return view ? "ALTER VIEW" : "ALTER SEQUENCE";
    }
  }

  record DropSequence(List<QualifiedName> names, boolean ifExists, boolean cascade)
      implements DdlStatement {}

  /// PRIMARY KEY or UNIQUE.
  ///
  /// @param columns empty with an index
  /// @param nullsNotDistinct whether nulls are equal; with an index it says so
  /// @param index of USING INDEX, or null
  record KeyDefinition(
      @Nullable String name,
      List<String> columns,
      boolean primary,
      boolean nullsNotDistinct,
      @Nullable String index,
      ForeignKey.Timing timing) {
    /// Whether one index does for both. Two primary keys are two, which is an error.
    public boolean isSameKey(KeyDefinition other) {
      return index == null
          && other.index == null
          && columns.equals(other.columns)
          && nullsNotDistinct == other.nullsNotDistinct
          && timing.equals(other.timing)
          && !(primary && other.primary);
    }

    /// The key that stands for both, in the place of this one.
    public KeyDefinition mergedWith(KeyDefinition other) {
      KeyDefinition first = other.primary ? other : this;
      KeyDefinition second = other.primary ? this : other;
      return new KeyDefinition(
          first.name != null ? first.name : second.name,
          columns,
          first.primary,
          nullsNotDistinct,
          null,
          timing);
    }
  }

  /// CHECK.
  ///
  /// @param text the expression
  /// @param notValid whether rows that are there already need not fulfil it
  record CheckDefinition(@Nullable String name, String text, boolean notValid) {}

  /// FOREIGN KEY.
  ///
  /// @param referencedColumns null: the primary key
  /// @param setColumns what ON DELETE SET NULL and SET DEFAULT set; empty: all
  record ForeignKeyDefinition(
      @Nullable String name,
      List<String> columns,
      QualifiedName referenced,
      @Nullable List<String> referencedColumns,
      ForeignKey.Action onUpdate,
      ForeignKey.Action onDelete,
      List<String> setColumns,
      boolean matchFull,
      ForeignKey.Timing timing,
      boolean notValid) {}

  /// Constraints, in the order in which they are written.
  record Constraints(
      List<KeyDefinition> keys,
      List<CheckDefinition> checks,
      List<ForeignKeyDefinition> foreignKeys) {
    /// None yet; to be filled.
    public static Constraints empty() {
      return new Constraints(new ArrayList<>(), new ArrayList<>(), new ArrayList<>());
    }

    public static Constraints of(KeyDefinition key) {
      return new Constraints(List.of(key), List.of(), List.of());
    }

    public static Constraints of(CheckDefinition check) {
      return new Constraints(List.of(), List.of(check), List.of());
    }
  }

  record CreateTable(
      QualifiedName name,
      boolean ifNotExists,
      List<ColumnDefinition> columns,
      Constraints constraints,
      List<Like> likes)
      implements DdlStatement {}

  /// LIKE in CREATE TABLE.
  ///
  /// @param position number of the table's own columns in front of those that are copied
  record Like(int position, QualifiedName source, Set<LikeOption> options) {}

  /// Properties that LIKE copies besides names, types and NOT NULL.
  enum LikeOption {
    COMMENTS,
    /// How values are compressed; nothing here.
    COMPRESSION,
    CONSTRAINTS,
    DEFAULTS,
    GENERATED,
    IDENTITY,
    INDEXES,
    /// Statistics objects of the values; nothing here.
    STATISTICS,
    /// Where values lie; nothing here.
    STORAGE
  }

  /// CREATE TABLE ... AS.
  ///
  /// @param columns names; may be shorter than the number of columns
  /// @param text the query
  /// @param position of the query in the statement, from 0
  /// @param data whether its rows are inserted
  record CreateTableAs(
      QualifiedName name,
      boolean ifNotExists,
      List<String> columns,
      String text,
      int position,
      boolean data)
      implements DdlStatement {}

  /// ALTER TABLE.
  record AlterTable(QualifiedName table, boolean ifExists, List<Alteration> alterations)
      implements DdlStatement {}

  /// One of the actions of ALTER TABLE.
  sealed interface Alteration {
    record AddColumn(ColumnDefinition column, boolean ifNotExists, Constraints constraints)
        implements Alteration {}

    record DropColumn(String column, boolean ifExists, boolean cascade) implements Alteration {}

    record RenameColumn(String from, String to) implements Alteration {}

    record RenameTable(String to) implements Alteration {}

    record SetSchema(String schema) implements Alteration {}

    record RenameConstraint(String from, String to) implements Alteration {}

    /// @param text null: no default any more
    record SetDefault(String column, @Nullable String text) implements Alteration {}

    record SetNotNull(String column, boolean notNull) implements Alteration {}

    /// @param using how the new value is computed; null: by a cast
    record SetType(String column, SqlType type, @Nullable String using) implements Alteration {}

    record AddIdentity(String column, SequenceColumn sequence) implements Alteration {}

    /// @param generated null: stays
    record SetIdentity(String column, Column.@Nullable Generated generated, SequenceOptions options)
        implements Alteration {}

    record DropIdentity(String column, boolean ifExists) implements Alteration {}

    /// A generated column becomes an ordinary one, with the values that it has.
    record DropExpression(String column, boolean ifExists) implements Alteration {}

    record AddConstraint(Constraints constraint) implements Alteration {}

    record DropConstraint(String constraint, boolean ifExists, boolean cascade)
        implements Alteration {}

    record AlterConstraint(String constraint, ForeignKey.Timing timing) implements Alteration {}

    record ValidateConstraint(String constraint) implements Alteration {}

    /// Alteration of PostgreSQL's storage.
    ///
    /// @param column that has to be there, or null
    record Storage(@Nullable String column) implements Alteration {}
  }

  /// ALTER INDEX about PostgreSQL's storage.
  record AlterIndex(QualifiedName index, boolean ifExists) implements DdlStatement {}

  /// ALTER INDEX ... RENAME TO.
  record RenameIndex(QualifiedName index, boolean ifExists, String to) implements DdlStatement {
    @Override
    public String command() {
      return "ALTER INDEX";
    }
  }

  /// @param nullsNotDistinct whether nulls are equal where it is unique
  /// @param where text of the condition of a partial index, or null
  record CreateIndex(
      @Nullable String name,
      QualifiedName table,
      boolean unique,
      boolean ifNotExists,
      List<IndexElement> elements,
      boolean nullsNotDistinct,
      @Nullable String where)
      implements DdlStatement {}

  /// Column or expression that an index is over.
  ///
  /// @param column its name; null: an expression
  /// @param expression its text, or null
  /// @param function the name of the function, if the expression is written as a call alone
  /// @param collation what COLLATE says, or null
  /// @param nullsFirst where nulls are to be
  record IndexElement(
      @Nullable String column,
      @Nullable String expression,
      @Nullable String function,
      @Nullable String collation,
      boolean descending,
      boolean nullsFirst) {
    /// Label in the name of an index that is given none.
    public String label() {
      return column != null ? column : function != null ? function : "expr";
    }
  }

  /// A statement about roles and rights.
  record OfRights(RightsStatement statement) implements DdlStatement {
    @Override
    public String command() {
      return statement.command();
    }
  }

  record OfApplication(ApplicationStatement statement) implements DdlStatement {
    @Override
    public String command() {
      return statement.command();
    }
  }

  record OfQueue(QueueStatement statement) implements DdlStatement {
    @Override
    public String command() {
      return statement.command();
    }
  }

  /// @param owner AUTHORIZATION, or null
  record CreateSchema(String name, boolean ifNotExists, RightsStatement.@Nullable RoleName owner)
      implements DdlStatement {}

  /// ALTER SCHEMA ... RENAME TO.
  record RenameSchema(String from, String to) implements DdlStatement {
    @Override
    public String command() {
      return "ALTER SCHEMA";
    }
  }

  record DropTable(List<QualifiedName> names, boolean ifExists, boolean cascade)
      implements DdlStatement {}

  /// @param columns names; may be shorter than the number of columns
  /// @param text the query
  record CreateView(QualifiedName name, boolean orReplace, List<String> columns, String text)
      implements DdlStatement {}

  record DropView(List<QualifiedName> names, boolean ifExists, boolean cascade)
      implements DdlStatement {}

  /// COMMENT.
  ///
  /// @param kind what is named
  /// @param name of the object; of a column its table or view, of a constraint its table
  /// @param part the column or the constraint, or null
  /// @param text null: none any more
  record Comment(Commented kind, QualifiedName name, @Nullable String part, @Nullable String text)
      implements DdlStatement {}

  /// Kinds of objects that have comments.
  enum Commented {
    SCHEMA,
    TABLE,
    VIEW,
    SEQUENCE,
    QUEUE,
    APPLICATION,
    INDEX,
    COLUMN,
    CONSTRAINT,
    ROLE
  }

  record DropIndex(List<QualifiedName> names, boolean ifExists, boolean cascade)
      implements DdlStatement {}

  record DropSchema(List<String> names, boolean ifExists, boolean cascade)
      implements DdlStatement {}

  record Truncate(List<QualifiedName> names, boolean restartIdentity, boolean cascade)
      implements DdlStatement {}
}
