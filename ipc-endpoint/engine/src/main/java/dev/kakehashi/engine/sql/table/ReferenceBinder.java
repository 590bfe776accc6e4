package dev.kakehashi.engine.sql.table;

import dev.kakehashi.engine.catalog.CatalogSnapshot;
import dev.kakehashi.engine.catalog.Column;
import dev.kakehashi.engine.catalog.ForeignKey;
import dev.kakehashi.engine.catalog.ForeignKey.Action;
import dev.kakehashi.engine.catalog.Index;
import dev.kakehashi.engine.catalog.Table;
import dev.kakehashi.engine.expr.Expr;
import dev.kakehashi.engine.plan.DeferrableConstraint;
import dev.kakehashi.engine.plan.PhysicalPlan;
import dev.kakehashi.engine.plan.References;
import dev.kakehashi.engine.plan.References.Rule;
import dev.kakehashi.engine.plan.UniqueKey;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/// Collects the foreign keys around a table that is to be changed.
public final class ReferenceBinder {
  private final CatalogSnapshot catalog;
  private final Function<Table, PhysicalPlan.Target> targetOf;
  private final Map<Long, PhysicalPlan.Target> targets = new HashMap<>();
  private final Map<Long, Rule> rules = new TreeMap<>();
  private final Set<Long> tables = new HashSet<>();

  private ReferenceBinder(CatalogSnapshot catalog, Function<Table, PhysicalPlan.Target> targetOf) {
    this.catalog = catalog;
    this.targetOf = targetOf;
  }

  /// @param targetOf makes the target of a table that an action changes
  /// @param used gets the number of every table that the foreign keys name
  /// @return null if there are none
  static @Nullable References of(
      Table table,
      CatalogSnapshot catalog,
      Function<Table, PhysicalPlan.Target> targetOf,
      Set<Long> used) {
    if (table.foreignKeys().isEmpty() && catalog.referencing(table.tableId()).isEmpty()) {
      return null;
    }
    ReferenceBinder binder = new ReferenceBinder(catalog, targetOf);
    binder.visit(table);
    used.addAll(binder.tables);
    return new References(Map.copyOf(binder.targets), List.copyOf(binder.rules.values()));
  }

  private void visit(Table table) {
    if (targets.containsKey(table.tableId())) {
      return;
    }
    targets.put(table.tableId(), targetOf.apply(table));
    for (ForeignKey key : table.foreignKeys()) {
      add(table, key);
    }
    for (Table other : catalog.referencing(table.tableId())) {
      for (ForeignKey key : other.foreignKeys()) {
        if (key.referencedId() == table.tableId()) {
          add(other, key);
          if (key.onDelete().changes() || key.onUpdate().changes()) {
            visit(other);
          }
        }
      }
    }
  }

  private void add(Table table, ForeignKey key) {
    rules.computeIfAbsent(key.constraintId(), id -> rule(table, key, catalog));
    tables.add(table.tableId());
    tables.add(key.referencedId());
  }

  /// Unique keys of a table that are not looked at at once.
  static List<UniqueKey> deferrableKeys(Table table) {
    List<UniqueKey> keys = new ArrayList<>();
    for (Index index : table.indexes()) {
      if (index.deferrable()) {
        keys.add(
            new UniqueKey(
                index.indexId(),
                index.name(),
                table.schema(),
                table.name(),
                table.tableId(),
                names(table, index.columns()),
                positions(index.columns()),
                oids(table, index.columns()),
                index.timing()));
      }
    }
    return keys;
  }

  /// The constraint of a number that may be deferrable; null if there is none any more.
  public static @Nullable DeferrableConstraint constraint(
      long constraintId, CatalogSnapshot catalog) {
    for (Table table : catalog.tables()) {
      for (UniqueKey key : deferrableKeys(table)) {
        if (key.constraintId() == constraintId) {
          return key;
        }
      }
      for (ForeignKey key : table.foreignKeys()) {
        if (key.constraintId() == constraintId) {
          return rule(table, key, catalog);
        }
      }
    }
    return null;
  }

  /// All foreign keys of a catalogue that every row has to fulfil, and whose keys exist.
  public static List<Rule> all(CatalogSnapshot catalog) {
    List<Rule> all = new ArrayList<>();
    for (Table table : catalog.tables()) {
      table.foreignKeys().stream()
          .filter(key -> {
            Table referenced = catalog.table(key.referencedId());
            return key.validated()
                && referenced != null
                && referenced.uniqueIndex(key.referencedColumns()) != null;
          })
          .sorted(Comparator.comparingLong(ForeignKey::constraintId))
          .forEach(key -> all.add(rule(table, key, catalog)));
    }
    return all;
  }

  /// Rule of a foreign key for the execution.
  public static Rule rule(Table table, ForeignKey key, CatalogSnapshot catalog) {
    Table referenced = Objects.requireNonNull(catalog.table(key.referencedId()));
    Index index = Objects.requireNonNull(referenced.uniqueIndex(key.referencedColumns()));
    List<Expr> defaults = new ArrayList<>();
    if (key.onDelete() == Action.SET_DEFAULT || key.onUpdate() == Action.SET_DEFAULT) {
      key.columns().forEach(c -> defaults.add(TableExpressions.defaultValue(table, c, catalog)));
    }
    return new Rule(
        key.constraintId(),
        key.name(),
        side(table, key.columns()),
        side(referenced, key.referencedColumns()),
        index.indexId(),
        new References.Actions(
            key.onUpdate(), key.onDelete(), Set.copyOf(key.setColumns()), List.copyOf(defaults)),
        key.matchFull(),
        key.timing());
  }

  private static References.Side side(Table table, List<Integer> columns) {
    return new References.Side(
        table.schema(),
        table.name(),
        table.tableId(),
        positions(columns),
        names(table, columns),
        oids(table, columns));
  }

  private static int[] positions(List<Integer> columns) {
    return columns.stream().mapToInt(Integer::intValue).toArray();
  }

  private static List<String> names(Table table, List<Integer> columns) {
    return columns.stream().map(table.columns()::get).map(Column::name).toList();
  }

  private static int[] oids(Table table, List<Integer> columns) {
    return columns.stream().mapToInt(c -> table.columns().get(c).type().oid()).toArray();
  }
}
