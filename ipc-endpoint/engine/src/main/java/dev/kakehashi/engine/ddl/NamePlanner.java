package dev.kakehashi.engine.ddl;

import dev.kakehashi.engine.api.EngineException;
import dev.kakehashi.engine.catalog.CatalogSnapshot;
import dev.kakehashi.engine.catalog.CheckConstraint;
import dev.kakehashi.engine.catalog.Column;
import dev.kakehashi.engine.catalog.Index;
import dev.kakehashi.engine.catalog.Sequence;
import dev.kakehashi.engine.catalog.Table;
import dev.kakehashi.engine.catalog.View;
import dev.kakehashi.engine.sql.DdlStatement;
import dev.kakehashi.engine.sql.SequenceText;
import dev.kakehashi.engine.sql.SqlFront;
import dev.kakehashi.engine.sql.TableExpressions;
import dev.kakehashi.engine.txn.TableLocks.Mode;
import dev.kakehashi.protocol.ErrorCode;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;

/// RENAME TO and SET SCHEMA of sequences and views, and SET SCHEMA of tables, with which their indexes and sequences go. Defaults and CHECK constraints that
/// name a sequence follow it.
final class NamePlanner {
  private final DefinitionPlan plan;

  NamePlanner(DefinitionPlan plan) {
    this.plan = plan;
  }

  /// @param schema where the sequence or view is
  void alter(String schema, DdlStatement.AlterName alter) {
    String name = alter.name().name();
    Sequence sequence = alter.view() ? null : plan.state().sequence(schema, name);
    View view = alter.view() ? plan.state().view(schema, name) : null;
    if (sequence == null && view == null) {
      if (plan.isTaken(schema, name)) {
        throw new EngineException(
            ErrorCode.WRONG_OBJECT_TYPE,
            "\"%s\" is not a %s".formatted(name, alter.view() ? "view" : "sequence"));
      }
      if (!alter.ifExists()) {
        throw new EngineException(
            ErrorCode.UNDEFINED_TABLE, "relation \"" + name + "\" does not exist");
      }
      return;
    }
    String newSchema = alter.schema();
    if (newSchema != null) {
      if (sequence != null) {
        refuseOwned(sequence);
      }
      requireSchema(newSchema);
      if (newSchema.equals(schema)) {
        return;
      }
    }
    String nextSchema = newSchema == null ? schema : newSchema;
    String nextName = Objects.requireNonNullElse(alter.to(), name);
    plan.refuseTaken(nextSchema, nextName);
    if (sequence != null) {
      rename(sequence, sequence.named(nextSchema, nextName));
    } else if (view != null) {
      plan.lock(view.viewId(), Mode.EXCLUSIVE);
      plan.change(CatalogSnapshot.put(view.named(nextSchema, nextName)));
    }
  }

  private void refuseOwned(Sequence sequence) {
    for (Table table : plan.state().tables()) {
      for (Column column : table.columns()) {
        if (column.owns(sequence.sequenceId())) {
          throw new EngineException(
                  ErrorCode.FEATURE_NOT_SUPPORTED,
                  "cannot move an owned sequence into another schema")
              .withDetail(
                  "Sequence \"%s\" is linked to table \"%s\"."
                      .formatted(sequence.name(), table.name()));
        }
      }
    }
  }

  private void requireSchema(String schema) {
    if (!plan.state().hasSchema(schema)) {
      throw DefinitionPlanner.noSchema(schema);
    }
    DefinitionPlanner.refuseSystem(schema);
  }

  /// The table in another schema; its sequences are there afterwards.
  Table moved(Table table, String schema) {
    requireSchema(schema);
    if (table.schema().equals(schema)) {
      return table;
    }
    plan.refuseTaken(schema, table.name());
    for (Index index : table.indexes()) {
      plan.refuseTaken(schema, index.name());
    }
    Table next = table;
    for (Column column : table.columns()) {
      Column.Owned owned = column.sequence();
      Sequence sequence = owned == null ? null : plan.state().sequence(owned.sequenceId());
      if (sequence != null) {
        plan.refuseTaken(schema, sequence.name());
        Sequence there = sequence.named(schema, sequence.name());
        rename(sequence, there);
        next = following(next, sequence, there);
      }
    }
    return next.withSchema(schema);
  }

  private void rename(Sequence from, Sequence to) {
    plan.lock(from.sequenceId(), Mode.EXCLUSIVE);
    plan.change(CatalogSnapshot.put(to));
    for (Table table : plan.state().tables()) {
      Table next = table.isSystem() ? table : following(table, from, to);
      if (!next.equals(table)) {
        plan.lock(table, Mode.EXCLUSIVE);
        plan.change(CatalogSnapshot.put(next));
      }
    }
  }

  /// The table with the new name in its expressions.
  private Table following(Table table, Sequence from, Sequence to) {
    List<Column> columns = new ArrayList<>();
    for (Column column : table.columns()) {
      String text = column.defaultText();
      if (text != null && TableExpressions.mayUseSequence(text)) {
        String next = SequenceText.renamed(text, from, to);
        columns.add(column.withDefault(next));
        readable(from, () -> SqlFront.checkDefault(next, column.type(), plan.state()));
      } else {
        columns.add(column);
      }
    }
    List<CheckConstraint> checks = new ArrayList<>();
    for (CheckConstraint check : table.checks()) {
      if (TableExpressions.mayUseSequence(check.text())) {
        String next = SequenceText.renamed(check.text(), from, to);
        checks.add(new CheckConstraint(check.name(), next, check.columns()));
        readable(from, () -> TableExpressions.check(next, table, plan.state()));
      } else {
        checks.add(check);
      }
    }
    return table.withColumns(columns).withChecks(checks);
  }

  /// What names the sequence in a way that is not followed cannot be read now.
  private static void readable(Sequence from, Runnable reading) {
    try {
      reading.run();
    } catch (EngineException unreadable) {
      throw new EngineException(
          ErrorCode.FEATURE_NOT_SUPPORTED,
          "cannot rename sequence \"" + from.name() + "\" within an expression of a table",
          unreadable);
    }
  }
}
