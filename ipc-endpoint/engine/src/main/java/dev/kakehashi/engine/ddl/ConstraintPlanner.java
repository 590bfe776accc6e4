package dev.kakehashi.engine.ddl;

import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.engine.catalog.CheckConstraint;
import dev.kakehashi.engine.catalog.Column;
import dev.kakehashi.engine.catalog.Index;
import dev.kakehashi.engine.catalog.Table;
import dev.kakehashi.engine.sql.parser.DdlStatement;
import dev.kakehashi.engine.sql.table.TableExpressions;
import dev.kakehashi.engine.type.SqlErrors;
import dev.kakehashi.engine.type.SqlType;
import dev.kakehashi.engine.type.Types;
import dev.kakehashi.protocol.ErrorCode;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;

/// Adds constraints to the form of a table: checks them, gives names and numbers as PostgreSQL does.
final class ConstraintPlanner {
  private final DefinitionPlan plan;

  ConstraintPlanner(DefinitionPlan plan) {
    this.plan = plan;
  }

  /// The table with more constraints; columns of a new primary key are not null. Keys first, so that an index has the place of its
  /// constraint.
  Table add(Table table, DdlStatement.Constraints more) {
    Table next = table;
    for (DdlStatement.KeyDefinition key : merged(more.keys())) {
      next = addKey(next, key);
    }
    for (DdlStatement.CheckDefinition check : more.checks()) {
      next = addCheck(next, check);
    }
    for (DdlStatement.ForeignKeyDefinition key : more.foreignKeys()) {
      next = new ForeignKeyPlanner(plan).add(next, key, this);
    }
    return next;
  }

  /// Keys without repetitions. Among equal keys the primary key stays, else the first, with the first name that is given.
  private static List<DdlStatement.KeyDefinition> merged(List<DdlStatement.KeyDefinition> keys) {
    List<DdlStatement.KeyDefinition> kept = new ArrayList<>();
    for (DdlStatement.KeyDefinition key : keys) {
      int same = 0;
      while (same < kept.size() && !kept.get(same).isSameKey(key)) {
        same++;
      }
      if (same == kept.size()) {
        kept.add(key);
      } else {
        kept.set(same, kept.get(same).mergedWith(key));
      }
    }
    return kept;
  }

  private Table addKey(Table table, DdlStatement.KeyDefinition key) {
    if (key.index() != null) {
      return withConstraint(table, key, key.index());
    }
    refuseSecond(table, key);
    List<Integer> positions = positions(table, key.columns());
    positions.forEach(position -> requireKey(table.columns().get(position).type()));
    String given = key.name();
    String name = given;
    if (name == null) {
      name =
          key.primary()
              ? freeName(table, table.name() + "_pkey")
              : freeName(table, key.columns(), "key");
    } else {
      refuseDuplicate(table, name);
      plan.refuseTaken(table.schema(), name);
    }
    List<Index> indexes = new ArrayList<>(table.indexes());
    List<Boolean> ascending = Collections.nCopies(positions.size(), false);
    indexes.add(
        new Index(name, plan.newObjectId(), positions, ascending, true, key.primary(), true, null)
            .with(key.timing())
            .withNulls(ascending, key.nullsNotDistinct()));
    return notNull(table.withIndexes(indexes), key.primary() ? positions : List.of());
  }

  private static void refuseSecond(Table table, DdlStatement.KeyDefinition key) {
    if (key.primary() && table.primaryKey() != null) {
      throw new EngineException(
          ErrorCode.INVALID_TABLE_DEFINITION,
          "multiple primary keys for table \"" + table.name() + "\" are not allowed");
    }
  }

  private static Table notNull(Table table, List<Integer> positions) {
    List<Column> columns = new ArrayList<>(table.columns());
    positions.forEach(position -> columns.set(position, columns.get(position).withNotNull(true)));
    return table.withColumns(columns);
  }

  /// USING INDEX: the index gets the name of the constraint.
  private Table withConstraint(Table table, DdlStatement.KeyDefinition key, String indexName) {
    List<Index> indexes = new ArrayList<>(table.indexes());
    int at = indexes.stream().map(Index::name).toList().indexOf(indexName);
    if (at < 0) {
      throw new EngineException(
          ErrorCode.UNDEFINED_OBJECT, "index \"" + indexName + "\" does not exist");
    }
    Index index = indexes.get(at);
    if (index.constraint()) {
      throw new EngineException(
          ErrorCode.NOT_IN_PREREQUISITE_STATE,
          "index \"" + indexName + "\" is already associated with a constraint");
    }
    int usual = 0;
    while (usual < index.columns().size()
        && !index.descending().get(usual)
        && !index.nullsFirst().get(usual)) {
      usual++;
    }
    if (!index.unique() || usual < index.columns().size()) {
      throw new EngineException(
              ErrorCode.WRONG_OBJECT_TYPE,
              index.unique()
                  ? "index \"%s\" column number %d does not have default sorting behavior"
                      .formatted(indexName, usual + 1)
                  : "\"" + indexName + "\" is not a unique index")
          .withDetail("Cannot create a primary key or unique constraint using such an index.");
    }
    if (table.hasExpression(index)) {
      throw new EngineException(
              ErrorCode.WRONG_OBJECT_TYPE, "index \"" + indexName + "\" contains expressions")
          .withDetail("Cannot create a primary key or unique constraint using such an index.");
    }
    if (!index.predicate().isEmpty()) {
      throw new EngineException(
              ErrorCode.WRONG_OBJECT_TYPE, "\"" + indexName + "\" is a partial index")
          .withDetail("Cannot create a primary key or unique constraint using such an index.");
    }
    refuseSecond(table, key);
    String name = key.name() == null ? indexName : key.name();
    refuseDuplicate(table, name);
    if (!name.equals(indexName)) {
      plan.refuseTaken(table.schema(), name);
    }
    indexes.set(at, index.withName(name).ofConstraint(key.primary()));
    return notNull(table.withIndexes(indexes), key.primary() ? index.columns() : List.of());
  }

  private Table addCheck(Table table, DdlStatement.CheckDefinition check) {
    List<Integer> columns = TableExpressions.check(check.text(), table, plan.state()).columns();
    String name = check.name();
    if (name == null) {
      name =
          freeName(
              table,
              columns.size() == 1
                  ? table.name() + "_" + table.columns().get(columns.getFirst()).name() + "_check"
                  : table.name() + "_check");
    } else {
      refuseDuplicate(table, name);
    }
    List<CheckConstraint> checks = new ArrayList<>(table.checks());
    checks.add(new CheckConstraint(name, check.text(), columns, !check.notValid()));
    return table.withChecks(checks);
  }

  static void refuseDuplicate(Table table, String name) {
    if (table.hasConstraint(name)) {
      throw new EngineException(
          ErrorCode.DUPLICATE_OBJECT,
          "constraint \"" + name + "\" for relation \"" + table.name() + "\" already exists");
    }
  }

  /// The default name of an index or a constraint over columns.
  String freeName(Table table, List<String> columns, String suffix) {
    return freeName(table, table.name() + "_" + String.join("_", columns) + "_" + suffix);
  }

  /// The name, or the name with a number.
  private String freeName(Table table, String base) {
    String name = base;
    for (int i = 1;
        table.hasConstraint(name) || plan.isTaken(table.schema(), name) || hasIndex(table, name);
        i++) {
      name = base + i;
    }
    return name;
  }

  private static boolean hasIndex(Table table, String name) {
    return table.indexes().stream().anyMatch(index -> index.name().equals(name));
  }

  /// @throws EngineException UNDEFINED_OBJECT for a type that no index has in PostgreSQL, FEATURE_NOT_SUPPORTED for one that none has here
  static void requireKey(SqlType type) {
    if (!Types.hasEquality(type.oid())) {
      throw new EngineException(
          ErrorCode.UNDEFINED_OBJECT,
          "data type "
              + Types.name(type.oid())
              + " has no default operator class for access method \"btree\"");
    }
    if (Types.kind(type.oid()).isDocument()) {
      throw SqlErrors.notSupported(
          "indexes over type " + Types.name(type.oid()) + " are not supported");
    }
  }

  private static List<Integer> positions(Table table, List<String> columns) {
    List<Integer> positions = new ArrayList<>();
    for (String column : columns) {
      int position = table.columnIndex(column);
      if (position < 0) {
        ColumnNames.refuseKey(column);
        throw new EngineException(
            ErrorCode.UNDEFINED_COLUMN, "column \"" + column + "\" named in key does not exist");
      }
      if (positions.contains(position)) {
        throw new EngineException(
            ErrorCode.DUPLICATE_COLUMN, "column \"" + column + "\" appears twice in key");
      }
      positions.add(position);
    }
    return List.copyOf(positions);
  }
}
