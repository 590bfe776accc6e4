package dev.kakehashi.engine.ddl;

import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.engine.catalog.CatalogSnapshot;
import dev.kakehashi.engine.catalog.Column;
import dev.kakehashi.engine.catalog.ForeignKey;
import dev.kakehashi.engine.catalog.Index;
import dev.kakehashi.engine.catalog.Table;
import dev.kakehashi.engine.sql.parser.DdlStatement.ForeignKeyDefinition;
import dev.kakehashi.engine.sql.table.ReferenceBinder;
import dev.kakehashi.engine.txn.TableLocks.Mode;
import dev.kakehashi.engine.type.SqlType;
import dev.kakehashi.engine.type.Types;
import dev.kakehashi.protocol.ErrorCode;
import dev.kakehashi.protocol.TypeOid;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.function.IntUnaryOperator;
import org.jspecify.annotations.Nullable;

/// FOREIGN KEY in DDL: new ones, and what changes of a table mean for those that reference it.
final class ForeignKeyPlanner {
  private final DefinitionPlan plan;

  ForeignKeyPlanner(DefinitionPlan plan) {
    this.plan = plan;
  }

  // ---- new ones ----

  /// The table with one more foreign key; it may reference itself.
  Table add(Table table, ForeignKeyDefinition key, ConstraintPlanner names) {
    List<Integer> columns = positions(table, key.columns(), "foreign key constraint");
    Table referenced = referenced(table, key);
    List<Integer> referencedColumns = referencedColumns(referenced, key);
    if (columns.size() != referencedColumns.size()) {
      throw new EngineException(
          ErrorCode.INVALID_FOREIGN_KEY,
          "number of referencing and referenced columns for foreign key disagree");
    }
    refuseDeferrable(referenced, referencedColumns);
    if (new HashSet<>(referencedColumns).size() < referencedColumns.size()
        || referenced.uniqueIndex(referencedColumns) == null) {
      throw new EngineException(
          ErrorCode.INVALID_FOREIGN_KEY,
          "there is no unique constraint matching given keys for referenced table \""
              + referenced.name()
              + "\"");
    }
    String name = key.name();
    if (name == null) {
      name = names.freeName(table, key.columns(), "fkey");
    } else {
      ConstraintPlanner.refuseDuplicate(table, name);
    }
    refuseActionsOnGenerated(table, columns, key);
    for (int i = 0; i < columns.size(); i++) {
      requireType(
          name,
          key.onUpdate(),
          table.columns().get(columns.get(i)),
          referenced.columns().get(referencedColumns.get(i)));
    }
    List<Integer> setColumns = columns;
    if (!key.setColumns().isEmpty()) {
      setColumns = positions(table, key.setColumns(), "foreign key constraint");
      for (int i = 0; i < setColumns.size(); i++) {
        if (!columns.contains(setColumns.get(i))) {
          throw new EngineException(
              ErrorCode.INVALID_COLUMN_REFERENCE,
              "column \""
                  + key.setColumns().get(i)
                  + "\" referenced in ON DELETE SET action must be part of foreign key");
        }
      }
    }
    List<ForeignKey> keys = new ArrayList<>(table.foreignKeys());
    keys.add(
        new ForeignKey(
            name,
            plan.newObjectId(),
            columns,
            referenced.tableId(),
            referencedColumns,
            key.onUpdate(),
            key.onDelete(),
            setColumns,
            key.matchFull(),
            key.timing(),
            !key.notValid() || plan.state().table(table.tableId()) == null));
    return table.withForeignKeys(keys);
  }

  /// Referenced columns have to be unique at any time.
  private static void refuseDeferrable(Table referenced, List<Integer> columns) {
    for (Index index : referenced.indexes()) {
      if (index.deferrable()
          && index.columns().size() == columns.size()
          && index.columns().containsAll(columns)
          && referenced.uniqueIndex(columns) == null) {
        throw new EngineException(
            ErrorCode.NOT_IN_PREREQUISITE_STATE,
            "cannot use a deferrable unique constraint for referenced table \""
                + referenced.name()
                + "\"");
      }
    }
  }

  private static void refuseActionsOnGenerated(
      Table table, List<Integer> columns, ForeignKeyDefinition key) {
    boolean updates = key.onUpdate().changes();
    boolean deletes = key.onDelete().changes() && key.onDelete() != ForeignKey.Action.CASCADE;
    boolean generated =
        columns.stream().anyMatch(column -> table.columns().get(column).generation() != null);
    if (generated && (updates || deletes)) {
      throw new EngineException(
          ErrorCode.SYNTAX_ERROR,
          "invalid %s action for foreign key constraint containing generated column"
              .formatted(updates ? "ON UPDATE" : "ON DELETE"));
    }
  }

  /// The table whose foreign key is looked at at another time, or, with null, is known to hold: that is to be looked at.
  ///
  /// @throws EngineException UNDEFINED_OBJECT, or WRONG_OBJECT_TYPE if the constraint is another one
  static Table alter(Table table, String name, ForeignKey.@Nullable Timing timing) {
    List<ForeignKey> keys = new ArrayList<>(table.foreignKeys());
    boolean found = false;
    for (int i = 0; i < keys.size(); i++) {
      ForeignKey key = keys.get(i);
      if (key.name().equals(name)) {
        found = true;
        keys.set(
            i, timing == null ? key.with(key.timing(), true) : key.with(timing, key.validated()));
      }
    }
    // The caller sees to CHECK constraints.
    boolean isCheck = table.checks().stream().anyMatch(check -> check.name().equals(name));
    if (!found && !(timing == null && isCheck)) {
      boolean exists = table.hasConstraint(name);
      throw exists
          ? new EngineException(
              ErrorCode.WRONG_OBJECT_TYPE,
              timing == null
                  ? "constraint \"%s\" of relation \"%s\" is not a foreign key or check constraint"
                      .formatted(name, table.name())
                  : "constraint \"%s\" of relation \"%s\" is not a foreign key constraint"
                      .formatted(name, table.name()))
          : new EngineException(
              ErrorCode.UNDEFINED_OBJECT,
              "constraint \"%s\" of relation \"%s\" does not exist".formatted(name, table.name()));
    }
    return table.withForeignKeys(keys);
  }

  private Table referenced(Table table, ForeignKeyDefinition key) {
    String schema = DefinitionPlanner.schema(key.referenced());
    String name = key.referenced().name();
    if (schema.equals(table.schema()) && name.equals(table.name())) {
      return table;
    }
    Table referenced = plan.state().table(schema, name);
    if (referenced == null || referenced.isSystem()) {
      throw plan.isTaken(schema, name)
          ? new EngineException(
              ErrorCode.WRONG_OBJECT_TYPE, "referenced relation \"" + name + "\" is not a table")
          : new EngineException(
              ErrorCode.UNDEFINED_TABLE, "relation \"" + name + "\" does not exist");
    }
    return referenced;
  }

  private static List<Integer> referencedColumns(Table referenced, ForeignKeyDefinition key) {
    List<String> names = key.referencedColumns();
    if (names != null) {
      return positions(referenced, names, "foreign key constraint");
    }
    Index primary = referenced.primaryKey();
    if (primary == null) {
      throw new EngineException(
          ErrorCode.UNDEFINED_OBJECT,
          "there is no primary key for referenced table \"" + referenced.name() + "\"");
    }
    return primary.columns();
  }

  private static List<Integer> positions(Table table, List<String> names, String where) {
    List<Integer> positions = new ArrayList<>();
    for (String name : names) {
      int position = table.columnIndex(name);
      if (position < 0) {
        ColumnNames.refuseKey(name);
        throw new EngineException(
            ErrorCode.UNDEFINED_COLUMN,
            "column \"" + name + "\" referenced in " + where + " does not exist");
      }
      positions.add(position);
    }
    return List.copyOf(positions);
  }

  private static void requireType(
      String name, ForeignKey.Action onUpdate, Column column, Column referenced) {
    if (family(column.type()) == family(referenced.type())) {
      if (onUpdate == ForeignKey.Action.CASCADE && !holdsAll(column.type(), referenced.type())) {
        throw new EngineException(
            ErrorCode.FEATURE_NOT_SUPPORTED,
            "ON UPDATE CASCADE of column \"%s\" that does not hold every value of column \"%s\" is not supported"
                .formatted(column.name(), referenced.name()));
      }
      return;
    }
    throw new EngineException(
            ErrorCode.DATATYPE_MISMATCH,
            "foreign key constraint \"" + name + "\" cannot be implemented")
        .withDetail(
            "Key columns \"%s\" and \"%s\" are of incompatible types: %s and %s."
                .formatted(
                    column.name(),
                    referenced.name(),
                    Types.name(column.type().oid()),
                    Types.name(referenced.type().oid())));
  }

  /// Whether every value of the key is one of the column, by length and precision; integers are looked at one by one.
  private static boolean holdsAll(SqlType column, SqlType key) {
    boolean shorter =
        family(column) == TypeOid.TEXT
            && key.typeModifier() >= 0
            && key.typeModifier() <= column.typeModifier();
    return column.typeModifier() < 0 || column.typeModifier() == key.typeModifier() || shorter;
  }

  /// Types of one family have equal words for equal values.
  private static int family(SqlType type) {
    return switch (type.oid()) {
      case TypeOid.INT2, TypeOid.INT4 -> TypeOid.INT8;
      case TypeOid.VARCHAR -> TypeOid.TEXT;
      default -> type.oid();
    };
  }

  /// Nobody may change the tables that foreign keys reference which are new, or are validated, before the transaction ends: rows are
  /// checked against them.
  ///
  /// @param before null: it is a new table
  void lockOthers(@Nullable Table before, Table after) {
    for (ForeignKey key : newKeys(before, after)) {
      if (key.referencedId() != after.tableId()) {
        plan.lock(key.referencedId(), Mode.EXCLUSIVE);
      }
    }
  }

  /// Foreign keys that are new, or newly known to hold.
  ///
  /// @param before null: it is a new table
  static List<ForeignKey> newKeys(@Nullable Table before, Table after) {
    List<ForeignKey> present = before == null ? List.of() : before.foreignKeys();
    return after.foreignKeys().stream()
        .filter(key ->
            present.stream()
                .noneMatch(k ->
                    k.constraintId() == key.constraintId() && k.validated() == key.validated()))
        .toList();
  }

  /// Rows that are there have to fulfil new foreign keys, unless those are not valid; after the changes of the catalogue.
  void validate(List<ForeignKey> added) {
    for (ForeignKey key : added) {
      if (!key.validated()) {
        continue;
      }
      for (Table table : plan.state().tables()) {
        for (ForeignKey present : table.foreignKeys()) {
          if (present.constraintId() == key.constraintId()) {
            plan.pass(new ReferencePass(ReferenceBinder.rule(table, present, plan.state())));
          }
        }
      }
    }
  }

  // ---- changes of what is referenced ----

  /// The table without foreign keys that have a column, the others as of its columns after the column is gone.
  static Table withoutColumn(Table table, int position) {
    return table.withForeignKeys(
        table.foreignKeys().stream()
            .filter(key -> !key.columns().contains(position))
            .map(key -> key.moved(column -> column > position ? column - 1 : column))
            .toList());
  }

  /// @throws EngineException FEATURE_NOT_SUPPORTED if a foreign key has the column on either side
  void refuseInKeys(Table old, Table table, int position, String name) {
    boolean has = table.foreignKeys().stream().anyMatch(key -> key.columns().contains(position));
    int before = old.columnIndex(name);
    boolean referenced =
        plan.state().referencing(old.tableId()).stream()
            .flatMap(other -> other.foreignKeys().stream())
            .anyMatch(key ->
                key.referencedId() == old.tableId() && key.referencedColumns().contains(before));
    if (has || referenced) {
      throw new EngineException(
              ErrorCode.FEATURE_NOT_SUPPORTED,
              "cannot alter the type of column \"%s\" that is part of a foreign key"
                  .formatted(name))
          .withHint("Drop the foreign key constraint, and add it again afterwards.");
    }
  }

  /// Adapts the foreign keys that reference a table that changes. Foreign keys whose key is gone are dropped with CASCADE, otherwise the
  /// change is refused.
  ///
  /// @param moved where a column is afterwards; -1: it is dropped
  /// @return the table afterwards, with its references to itself
  Table altered(Table old, Table table, IntUnaryOperator moved, boolean cascade) {
    List<ForeignKey> own = new ArrayList<>();
    for (ForeignKey key : table.foreignKeys()) {
      boolean known =
          old.foreignKeys().stream().anyMatch(k -> k.constraintId() == key.constraintId());
      ForeignKey next =
          key.referencedId() != old.tableId()
              ? key
              : known ? after(old, table, table, key, moved, cascade) : key;
      if (next != null) {
        own.add(next);
      }
    }
    for (Table other : plan.state().referencing(old.tableId())) {
      if (other.tableId() == old.tableId()) {
        continue;
      }
      List<ForeignKey> keys = new ArrayList<>();
      for (ForeignKey key : other.foreignKeys()) {
        ForeignKey next =
            key.referencedId() == old.tableId()
                ? after(other, old, table, key, moved, cascade)
                : key;
        if (next != null) {
          keys.add(next);
        }
      }
      if (!keys.equals(other.foreignKeys())) {
        plan.lock(other, Mode.EXCLUSIVE);
        plan.change(CatalogSnapshot.put(other.withForeignKeys(keys)));
      }
    }
    return table.withForeignKeys(own);
  }

  private @Nullable ForeignKey after(
      Table holder,
      Table old,
      Table table,
      ForeignKey key,
      IntUnaryOperator moved,
      boolean cascade) {
    boolean gone = key.referencedColumns().stream().anyMatch(c -> moved.applyAsInt(c) < 0);
    ForeignKey next = gone ? key : key.referencing(key.referencedId(), moved);
    if (!gone && table.uniqueIndex(next.referencedColumns()) != null) {
      for (int i = 0; i < key.columns().size(); i++) {
        if (holder.tableId() != old.tableId()) {
          requireType(
              key.name(),
              key.onUpdate(),
              holder.columns().get(key.columns().get(i)),
              table.columns().get(next.referencedColumns().get(i)));
        }
      }
      return next;
    }
    if (cascade) {
      return null;
    }
    throw dependent("cannot change table " + old.name(), holder, key, old);
  }

  private static EngineException dependent(
      String what, Table holder, ForeignKey key, Table referenced) {
    return new EngineException(
            ErrorCode.DEPENDENT_OBJECTS_EXIST, what + " because other objects depend on it")
        .withDetail(
            "constraint %s on table %s depends on table %s"
                .formatted(key.name(), holder.name(), referenced.name()))
        .withHint("Use DROP ... CASCADE to drop the dependent objects too.");
  }

  /// Another table has taken the place of one.
  void replaced(long oldId, Table next) {
    for (Table table : plan.state().referencing(oldId)) {
      List<ForeignKey> keys = new ArrayList<>(table.foreignKeys());
      keys.replaceAll(
          key -> key.referencedId() == oldId ? key.referencing(next.tableId(), c -> c) : key);
      if (table.tableId() != next.tableId()) {
        plan.lock(table, Mode.EXCLUSIVE);
      }
      plan.change(CatalogSnapshot.put(table.withForeignKeys(keys)));
    }
  }

  /// Before tables are dropped together.
  void dropped(List<Table> tables, boolean cascade) {
    Set<Long> gone = new HashSet<>();
    tables.forEach(table -> gone.add(table.tableId()));
    for (Table table : tables) {
      for (Table other : plan.state().referencing(table.tableId())) {
        if (gone.contains(other.tableId())) {
          continue;
        }
        List<ForeignKey> keys = new ArrayList<>();
        for (ForeignKey key : other.foreignKeys()) {
          if (key.referencedId() != table.tableId()) {
            keys.add(key);
          } else if (!cascade) {
            throw dependent("cannot drop table " + table.name(), other, key, table);
          }
        }
        plan.lock(other, Mode.EXCLUSIVE);
        plan.change(CatalogSnapshot.put(other.withForeignKeys(keys)));
      }
    }
  }

  /// Tables that a TRUNCATE of some empties.
  ///
  /// @throws EngineException FEATURE_NOT_SUPPORTED if others reference them, without CASCADE
  Set<Table> truncated(List<Table> named, boolean cascade) {
    Set<Table> all = new LinkedHashSet<>(named);
    List<Table> open = new ArrayList<>(all);
    while (!open.isEmpty()) {
      Table table = open.removeFirst();
      for (Table other : plan.state().referencing(table.tableId())) {
        if (all.contains(other)) {
          continue;
        }
        if (!cascade) {
          throw new EngineException(
                  ErrorCode.FEATURE_NOT_SUPPORTED,
                  "cannot truncate a table referenced in a foreign key constraint")
              .withDetail("Table \"%s\" references \"%s\".".formatted(other.name(), table.name()))
              .withHint(
                  "Truncate table \"%s\" at the same time, or use TRUNCATE ... CASCADE."
                      .formatted(other.name()));
        }
        all.add(other);
        open.add(other);
      }
    }
    return all;
  }
}
