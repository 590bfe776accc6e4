package dev.kakehashi.engine.ddl;

import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.engine.catalog.CatalogSnapshot;
import dev.kakehashi.engine.catalog.CheckConstraint;
import dev.kakehashi.engine.catalog.Column;
import dev.kakehashi.engine.catalog.DeployedApplication;
import dev.kakehashi.engine.catalog.Index;
import dev.kakehashi.engine.catalog.Queue;
import dev.kakehashi.engine.catalog.Sequence;
import dev.kakehashi.engine.catalog.Table;
import dev.kakehashi.engine.catalog.View;
import dev.kakehashi.engine.sql.SqlFront;
import dev.kakehashi.engine.sql.parser.DdlStatement;
import dev.kakehashi.engine.sql.parser.DdlStatement.Alteration;
import dev.kakehashi.engine.sql.parser.SequenceText;
import dev.kakehashi.engine.sql.table.TableExpressions;
import dev.kakehashi.engine.txn.TableLocks.Mode;
import dev.kakehashi.engine.vector.Interrupts;
import dev.kakehashi.protocol.ErrorCode;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/// RENAME TO and SET SCHEMA of sequences and views, other names of schemas and of views' columns, and SET SCHEMA of tables, with which
/// their indexes and sequences go. Defaults and CHECK constraints that name a sequence follow it.
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
      plan.requireSchema(newSchema);
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

  /// Changes of ALTER TABLE to a view or sequence: another name or schema, or another name of a view's column.
  ///
  /// @return false if it is about something else
  boolean alter(String schema, DdlStatement.AlterTable alter) {
    String name = alter.table().name();
    View view = plan.state().view(schema, name);
    if (view == null && plan.state().sequence(schema, name) == null) {
      return false;
    }
    switch (alter.alterations().getFirst()) {
      case Alteration.RenameTable rename ->
          alter(
              schema,
              new DdlStatement.AlterName(view != null, alter.table(), false, rename.to(), null));
      case Alteration.SetSchema set ->
          alter(
              schema,
              new DdlStatement.AlterName(view != null, alter.table(), false, null, set.schema()));
      case Alteration.RenameColumn rename when view != null -> renameColumn(view, rename);
      default -> {
        return false;
      }
    }
    return true;
  }

  /// New name of ALTER TABLE ... RENAME TO, otherwise null.
  static @Nullable String newName(DdlStatement.AlterTable alter) {
    return alter.alterations().getFirst() instanceof Alteration.RenameTable rename
        ? rename.to()
        : null;
  }

  private void renameColumn(View view, Alteration.RenameColumn rename) {
    Table form = view.form();
    int position = form.columnIndex(rename.from());
    if (position < 0) {
      throw new EngineException(
          ErrorCode.UNDEFINED_COLUMN, "column \"" + rename.from() + "\" does not exist");
    }
    if (form.columnIndex(rename.to()) >= 0) {
      throw TableAlteration.refusal(
          ErrorCode.DUPLICATE_COLUMN, form, rename.to(), "already exists");
    }
    List<Column> columns = new ArrayList<>(view.columns());
    columns.set(position, columns.get(position).withName(rename.to()));
    plan.lock(view.viewId(), Mode.EXCLUSIVE);
    plan.change(CatalogSnapshot.put(view.withColumns(columns)));
  }

  /// With all that is in it.
  void renameSchema(String from, String to) {
    plan.requireSchema(from);
    if (plan.state().hasSchema(to)) {
      throw new EngineException(ErrorCode.DUPLICATE_SCHEMA, "schema \"" + to + "\" already exists");
    }
    DefinitionPlanner.refuseReserved(to);
    CatalogSnapshot before = plan.state();
    plan.change(CatalogSnapshot.putSchema(to, before.comment(from)));
    for (Table table : before.tables(from)) {
      plan.lock(table, Mode.EXCLUSIVE);
      plan.change(CatalogSnapshot.put(table.withSchema(to)));
    }
    for (Sequence sequence : before.sequences()) {
      if (sequence.schema().equals(from)) {
        rename(sequence, sequence.named(to, sequence.name()));
      }
    }
    for (View view : before.views()) {
      if (view.schema().equals(from)) {
        plan.lock(view.viewId(), Mode.EXCLUSIVE);
        plan.change(CatalogSnapshot.put(view.named(to, view.name())));
      }
    }
    for (DeployedApplication each : List.copyOf(before.applications().all())) {
      if (each.schema().equals(from)) {
        plan.change(CatalogSnapshot.put(each.named(to, each.name())));
      }
    }
    for (Queue queue : before.queueObjects()) {
      if (queue.schema().equals(from)) {
        plan.change(CatalogSnapshot.put(queue.named(to, queue.name())));
      }
    }
    plan.change(CatalogSnapshot.removeSchema(from));
    new OwnedObjects(plan).renameSchema(from, to);
  }

  private void refuseOwned(Sequence sequence) {
    SequencePlanner.Owner owner = SequencePlanner.owner(sequence, plan.state());
    if (owner != null) {
      throw owner.refuse(sequence, "cannot move an owned sequence into another schema");
    }
  }

  /// The table in another schema; its sequences are there afterwards.
  Table moved(Table table, String schema) {
    plan.requireSchema(schema);
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
        checks.add(check.withText(next));
        readable(from, () -> TableExpressions.check(next, table, plan.state()));
      } else {
        checks.add(check);
      }
    }
    return table.withColumns(columns).withChecks(checks);
  }

  /// Refuses a text that names the sequence in a way that is not followed: it cannot be read now.
  private static void readable(Sequence from, Runnable reading) {
    try {
      reading.run();
    } catch (EngineException unreadable) {
      Interrupts.check();
      throw new EngineException(
          ErrorCode.FEATURE_NOT_SUPPORTED,
          "cannot rename sequence \"" + from.name() + "\" within an expression of a table",
          unreadable);
    }
  }
}
