package dev.kakehashi.engine.ddl;

import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.engine.catalog.CatalogSnapshot;
import dev.kakehashi.engine.catalog.CheckConstraint;
import dev.kakehashi.engine.catalog.Column;
import dev.kakehashi.engine.catalog.Index;
import dev.kakehashi.engine.catalog.Sequence;
import dev.kakehashi.engine.catalog.Table;
import dev.kakehashi.engine.catalog.View;
import dev.kakehashi.engine.rights.ObjectKind;
import dev.kakehashi.engine.sql.SqlFront;
import dev.kakehashi.engine.sql.binder.ViewBinder;
import dev.kakehashi.engine.sql.lexer.QualifiedName;
import dev.kakehashi.engine.sql.parser.DdlStatement;
import dev.kakehashi.engine.sql.parser.DdlStatement.ColumnDefinition;
import dev.kakehashi.engine.sql.parser.DdlStatement.Constraints;
import dev.kakehashi.engine.sql.parser.DdlStatement.LikeOption;
import dev.kakehashi.engine.sql.parser.SequenceOptions;
import dev.kakehashi.engine.sql.table.TableExpressions;
import dev.kakehashi.engine.store.api.Store.CatalogChange;
import dev.kakehashi.protocol.ErrorCode;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/// CREATE TABLE: of columns that are named, that another table has (LIKE), or that a query gives (AS).
final class TablePlanner {
  private static final int MAX_COLUMNS = 1600;

  private final DefinitionPlan plan;
  private final ConstraintPlanner constraints;
  private final SequencePlanner sequences;

  TablePlanner(DefinitionPlan plan, ConstraintPlanner constraints, SequencePlanner sequences) {
    this.plan = plan;
    this.constraints = constraints;
    this.sequences = sequences;
  }

  void create(String schema, DdlStatement.CreateTable create) {
    String name = create.name().name();
    if (isThere(schema, name, create.ifNotExists())) {
      return;
    }
    create.columns().forEach(ColumnDefinition::requireNoConflict);
    plan.refuseTaken(schema, name);
    ColumnNames.refuseDuplicates(create.columns().stream().map(ColumnDefinition::name).toList());
    List<Column> columns = new ArrayList<>();
    List<Table> sources = new ArrayList<>();
    int own = 0;
    for (DdlStatement.Like like : create.likes()) {
      for (; own < like.position(); own++) {
        columns.add(column(schema, name, create.columns().get(own)));
      }
      Table source = source(like.source());
      sources.add(source);
      for (Column column : source.columns()) {
        if (!column.hidden()) {
          columns.add(copied(schema, name, column, like.options()));
        }
      }
    }
    for (; own < create.columns().size(); own++) {
      columns.add(column(schema, name, create.columns().get(own)));
    }
    refuseDuplicates(columns);
    Table table =
        new Table(schema, name, plan.newObjectId(), List.copyOf(columns), List.of())
            .withRights(plan.made(ObjectKind.TABLE, schema));
    TableExpressions.checkGenerations(table, plan.state());
    table = constraints.add(table, create.constraints());
    for (int i = 0; i < sources.size(); i++) {
      table = withConstraints(table, sources.get(i), create.likes().get(i).options());
    }
    new ForeignKeyPlanner(plan).lockOthers(null, table);
    add(table);
  }

  void createAs(String schema, DdlStatement.CreateTableAs create) {
    String name = create.name().name();
    if (isThere(schema, name, create.ifNotExists())) {
      return;
    }
    plan.refuseTaken(schema, name);
    View form;
    try {
      form =
          ViewBinder.define(
              schema, name, 0, create.text(), create.columns(), plan.state(), plan::mayName);
    } catch (EngineException refused) {
      throw refused.position() == 0
          ? refused
          : refused.withPosition(refused.position() + create.position());
    }
    refuseDuplicates(form.columns());
    Table table =
        new Table(schema, name, plan.newObjectId(), form.columns(), List.of())
            .withRights(plan.made(ObjectKind.TABLE, schema));
    add(table);
    if (create.data()) {
      plan.fill(
          "insert into %s.%s %s"
              .formatted(
                  TableExpressions.quoted(schema), TableExpressions.quoted(name), create.text()));
    }
  }

  /// Whether IF NOT EXISTS finds it.
  private boolean isThere(String schema, String name, boolean ifNotExists) {
    plan.requireSchema(schema);
    return ifNotExists && plan.isTaken(schema, name);
  }

  private void add(Table table) {
    plan.change(new CatalogChange.CreateTable(table.definition()));
    plan.change(CatalogSnapshot.put(table));
  }

  private static void refuseDuplicates(List<Column> columns) {
    if (columns.isEmpty() || columns.size() > MAX_COLUMNS) {
      throw new EngineException(
          ErrorCode.INVALID_TABLE_DEFINITION,
          "a table must have between 1 and " + MAX_COLUMNS + " columns");
    }
    ColumnNames.refuseDuplicates(columns.stream().map(Column::name).toList());
  }

  /// The column as it is defined, with its sequence, which is made. Its generation is not looked at: that needs the other columns.
  Column column(String schema, String table, ColumnDefinition definition) {
    String defaultText = definition.defaultText();
    if (defaultText != null) {
      SqlFront.checkDefault(defaultText, definition.type(), plan.state());
    }
    Column column =
        new Column(definition.name(), definition.type(), definition.notNull(), defaultText)
            .withGeneration(definition.generation());
    return sequences.withSequence(schema, table, column, definition.sequence());
  }

  // ---- LIKE ----

  private Table source(QualifiedName name) {
    String schema = DefinitionPlanner.schema(name);
    Table table = plan.state().table(schema, name.name());
    View view = plan.state().view(schema, name.name());
    if (table == null && view == null) {
      boolean taken = plan.isTaken(schema, name.name());
      throw new EngineException(
              taken ? ErrorCode.WRONG_OBJECT_TYPE : ErrorCode.UNDEFINED_TABLE,
              taken
                  ? "relation \"" + name.name() + "\" is invalid in LIKE clause"
                  : "relation \"" + name.name() + "\" does not exist")
          .withPosition(name.position());
    }
    return table == null ? Objects.requireNonNull(view).form() : table;
  }

  private Column copied(String schema, String table, Column column, Set<LikeOption> options) {
    Column.Owned identity = column.identity();
    Sequence sequence = identity == null ? null : plan.state().sequence(identity.sequenceId());
    Column copy =
        new Column(
                column.name(),
                column.type(),
                column.notNull(),
                options.contains(LikeOption.DEFAULTS) ? column.defaultText() : null)
            .withGeneration(options.contains(LikeOption.GENERATED) ? column.generation() : null)
            .withComment(options.contains(LikeOption.COMMENTS) ? column.comment() : null);
    return identity == null || sequence == null || !options.contains(LikeOption.IDENTITY)
        ? copy
        : sequences.withSequence(
            schema,
            table,
            copy,
            new DdlStatement.SequenceColumn(
                identity.generated(),
                SequenceOptions.of(sequence.typeOid(), sequence.definition())));
  }

  /// The table with the constraints and indexes of another that LIKE names; keys and indexes get names of their own.
  private Table withConstraints(Table table, Table source, Set<LikeOption> options) {
    Table next = table;
    boolean comments = options.contains(LikeOption.COMMENTS);
    if (options.contains(LikeOption.CONSTRAINTS)) {
      for (CheckConstraint check : source.checks()) {
        Constraints one =
            Constraints.of(new DdlStatement.CheckDefinition(check.name(), check.text(), false));
        next = constraints.add(next, one);
        if (comments) {
          next =
              next.withConstraintComment(
                  check.name(), source.constraintComments().get(check.name()));
        }
      }
    }
    if (options.contains(LikeOption.INDEXES)) {
      for (Index index : source.indexes()) {
        List<String> names =
            index.columns().stream().map(c -> source.columns().get(c).name()).toList();
        next =
            index.constraint()
                ? constraints.add(
                    next,
                    Constraints.of(
                        new DdlStatement.KeyDefinition(
                            null,
                            names,
                            index.primary(),
                            index.nullsNotDistinct(),
                            null,
                            index.timing())))
                : withIndex(next, source, index, names);
        if (comments) {
          next = withComments(next, index.comment(), source.constraintComments().get(index.name()));
        }
      }
    }
    return next;
  }

  private Table withIndex(Table target, Table source, Index index, List<String> sourceNames) {
    List<String> names = new ArrayList<>(sourceNames);
    List<Column> columns = new ArrayList<>(target.columns());
    // Columns of expressions are copied with the index.
    for (int i = 0; i < names.size(); i++) {
      Column column = source.columns().get(index.columns().get(i));
      if (column.hidden()) {
        names.set(i, Column.hiddenName(plan.newObjectId()));
        columns.add(column.withName(names.get(i)));
      }
    }
    Table table = target.withColumns(columns);
    List<Index> indexes = new ArrayList<>(table.indexes());
    indexes.add(
        new Index(
                constraints.freeName(
                    table,
                    sourceNames.stream()
                        .map(name ->
                            source.columns().get(source.columnIndex(name)).hidden() ? "expr" : name)
                        .toList(),
                    "idx"),
                plan.newObjectId(),
                names.stream().map(table::columnIndex).toList(),
                index.descending(),
                index.unique(),
                false,
                false,
                null)
            .withNulls(index.nullsFirst(), index.nullsNotDistinct())
            .where(
                index.predicate().stream()
                    .map(condition ->
                        condition.moved(c -> table.columnIndex(source.columns().get(c).name())))
                    .toList()));
    return table.withIndexes(indexes);
  }

  /// Comments on the last index, and on its constraint if it has one.
  private static Table withComments(
      Table table, @Nullable String comment, @Nullable String constraintComment) {
    List<Index> indexes = new ArrayList<>(table.indexes());
    Index index = indexes.removeLast();
    indexes.add(index.withComment(comment));
    Table next = table.withIndexes(indexes);
    return index.constraint() ? next.withConstraintComment(index.name(), constraintComment) : next;
  }
}
