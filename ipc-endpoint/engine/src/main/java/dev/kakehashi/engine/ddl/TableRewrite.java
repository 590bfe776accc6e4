package dev.kakehashi.engine.ddl;

import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.engine.catalog.CatalogSnapshot;
import dev.kakehashi.engine.catalog.CheckConstraint;
import dev.kakehashi.engine.catalog.Column;
import dev.kakehashi.engine.catalog.Index;
import dev.kakehashi.engine.catalog.Table;
import dev.kakehashi.engine.expr.Expr;
import dev.kakehashi.engine.sql.table.TableExpressions;
import dev.kakehashi.engine.store.api.Placement;
import dev.kakehashi.engine.store.api.Store.CatalogChange;
import dev.kakehashi.protocol.ErrorCode;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;

/// Brings a table to the form that ALTER TABLE gives it. Its rows stay where they are, or are copied to a new table that takes the place of
/// the old one.
final class TableRewrite {
  private final DefinitionPlan plan;
  private final ForeignKeyPlanner references;
  private final Table old;
  private final Table table;
  private final List<Expr> values;
  private final Set<String> newNotNull;
  private final Set<String> newChecks;

  /// @param table the form that it gets
  /// @param values what each column of it is in terms of the old columns
  /// @param newNotNull names of columns that rows have to be checked for
  /// @param newChecks names of CHECK constraints that rows have to be checked for
  TableRewrite(
      DefinitionPlan plan,
      ForeignKeyPlanner references,
      Table old,
      Table table,
      List<Expr> values,
      Set<String> newNotNull,
      Set<String> newChecks) {
    this.plan = plan;
    this.references = references;
    this.old = old;
    this.table = table;
    this.values = values;
    this.newNotNull = newNotNull;
    this.newChecks = newChecks;
  }

  /// @param copies whether rows get values of their own
  /// @param reshapes whether columns come or go
  void run(boolean copies, boolean reshapes) {
    if (copies || (reshapes && !plan.rows().mayReshape(old.tableId(), added()))) {
      copy();
    } else {
      changeInPlace(reshapes);
    }
  }

  private int added() {
    return (int) values.stream().filter(value -> !(value instanceof Expr.Column)).count();
  }

  /// Where the columns come from, added ones with what the rows present have.
  private List<Placement.Origin> origins() {
    List<Placement.Origin> origins = new ArrayList<>();
    for (int i = 0; i < values.size(); i++) {
      Expr value = values.get(i);
      if (value instanceof Expr.Column column) {
        origins.add(Placement.Origin.of(column.index()));
      } else {
        ByteBuffer missing = plan.rows().constant(value);
        if (missing != null) {
          newNotNull.remove(table.columns().get(i).name());
        }
        origins.add(Placement.Origin.added(missing));
      }
    }
    return origins;
  }

  private void copy() {
    List<Index> indexes = new ArrayList<>();
    table.indexes().forEach(index -> indexes.add(index.renumbered(plan.newObjectId())));
    Table next = table.renumbered(plan.newObjectId()).withIndexes(indexes);
    plan.change(new CatalogChange.CreateTable(next.definition()));
    plan.pass(new RowPass(old.tableId(), next.tableId(), values, rules(next)));
    next.indexes().forEach(index -> requireUnique(next, index));
    plan.change(new CatalogChange.DropTable(old.tableId()));
    plan.change(CatalogSnapshot.remove(old));
    plan.change(CatalogSnapshot.put(next));
    references.replaced(old.tableId(), next);
  }

  private void changeInPlace(boolean reshapes) {
    List<Placement.Origin> origins = reshapes ? origins() : List.of();
    List<RowPass.Rule> rules = rules(table);
    if (!rules.isEmpty()) {
      plan.pass(new RowPass(old.tableId(), null, values, rules));
    }
    // Dropped ones first: the positions of the others are those of the list afterwards.
    for (Index index : old.indexes()) {
      if (!has(table, index)) {
        plan.change(new CatalogChange.DropIndex(old.tableId(), index.indexId()));
      }
    }
    if (reshapes) {
      plan.change(new CatalogChange.Reshape(table.definition(), origins));
    }
    for (Index index : table.indexes()) {
      if (!has(old, index)) {
        plan.change(new CatalogChange.CreateIndex(old.tableId(), index.definition()));
        requireUnique(table, index);
      }
    }
    plan.change(new CatalogChange.Redefine(table.definition()));
    plan.change(CatalogSnapshot.put(table));
  }

  /// The store lets a deferrable key have duplicates.
  private void requireUnique(Table of, Index index) {
    if (index.deferrable()) {
      plan.pass(new UniquePass(of, index));
    }
  }

  private static boolean has(Table table, Index index) {
    return table.indexes().stream().anyMatch(other -> other.indexId() == index.indexId());
  }

  private List<RowPass.Rule> rules(Table next) {
    List<RowPass.Rule> rules = new ArrayList<>();
    for (int i = 0; i < next.columns().size(); i++) {
      Column column = next.columns().get(i);
      if (newNotNull.contains(column.name())) {
        rules.add(
            RowPass.notNull(i, column.type().oid(), column.name(), next.schema(), next.name()));
      }
    }
    for (CheckConstraint check : next.checks()) {
      if (newChecks.contains(check.name())) {
        rules.add(
            new RowPass.Rule(
                TableExpressions.check(check.text(), next, plan.state()).expression(),
                new EngineException(
                        ErrorCode.CHECK_VIOLATION,
                        "check constraint \""
                            + check.name()
                            + "\" of relation \""
                            + next.name()
                            + "\" is violated by some row")
                    .withTable(next.schema(), next.name())
                    .withConstraint(check.name())));
      }
    }
    return rules;
  }
}
