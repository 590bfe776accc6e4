package dev.kakehashi.engine.ddl;

import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.engine.catalog.Access;
import dev.kakehashi.engine.catalog.CatalogSnapshot;
import dev.kakehashi.engine.catalog.Column;
import dev.kakehashi.engine.catalog.DeployedApplication;
import dev.kakehashi.engine.catalog.Index;
import dev.kakehashi.engine.catalog.Queue;
import dev.kakehashi.engine.catalog.Sequence;
import dev.kakehashi.engine.catalog.SystemTables;
import dev.kakehashi.engine.catalog.Table;
import dev.kakehashi.engine.catalog.View;
import dev.kakehashi.engine.rights.ObjectKind;
import dev.kakehashi.engine.rights.Rights;
import dev.kakehashi.engine.rights.Role;
import dev.kakehashi.engine.sql.lexer.QualifiedName;
import dev.kakehashi.engine.sql.parser.ApplicationStatement;
import dev.kakehashi.engine.sql.parser.DdlStatement;
import dev.kakehashi.engine.sql.parser.RightsStatement;
import dev.kakehashi.engine.sql.table.IndexConditions;
import dev.kakehashi.engine.sql.table.TableExpressions;
import dev.kakehashi.engine.store.api.IndexCondition;
import dev.kakehashi.engine.store.api.Store.CatalogChange;
import dev.kakehashi.engine.txn.TableLocks.Mode;
import dev.kakehashi.engine.type.SqlType;
import dev.kakehashi.protocol.ErrorCode;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/// Says what a DDL statement does: checks names, gives numbers and default names, lists the changes.
final class DefinitionPlanner {
  private final DefinitionPlan plan;
  private final ConstraintPlanner constraints;
  private final SequencePlanner sequences;
  private final TablePlanner tables;
  private final NamePlanner names;
  private final ViewPlanner views;
  private final ForeignKeyPlanner references;
  private final DefinitionRights rights;
  private final QueuePlanner queues;
  private final ApplicationPlanner applications;

  /// @param deployment code that a statement brings; null: none
  DefinitionPlanner(DefinitionPlan plan, @Nullable Deployment deployment) {
    this.plan = plan;
    this.constraints = new ConstraintPlanner(plan);
    this.sequences = new SequencePlanner(plan);
    this.tables = new TablePlanner(plan, constraints, sequences);
    this.names = new NamePlanner(plan);
    this.views = new ViewPlanner(plan);
    this.references = new ForeignKeyPlanner(plan);
    this.rights = new DefinitionRights(plan);
    this.queues = new QueuePlanner(plan);
    this.applications = new ApplicationPlanner(plan, deployment);
  }

  void plan(DdlStatement statement) {
    rights.check(statement);
    planChanges(statement);
    if (!(statement instanceof DdlStatement.OfRights
        || statement instanceof DdlStatement.OfQueue)) {
      views.checkAll(statement, cascades(statement));
    }
  }

  private static boolean cascades(DdlStatement statement) {
    return switch (statement) {
      case DdlStatement.DropTable drop -> drop.cascade();
      case DdlStatement.DropView drop -> drop.cascade();
      case DdlStatement.DropSchema drop -> drop.cascade();
      case DdlStatement.DropSequence drop -> drop.cascade();
      case DdlStatement.OfApplication about ->
          about.statement() instanceof ApplicationStatement.DropApplication drop && drop.cascade();
      case DdlStatement.AlterTable alter ->
          alter.alterations().stream()
              .anyMatch(each ->
                  each instanceof DdlStatement.Alteration.DropColumn drop && drop.cascade());
      default -> false;
    };
  }

  private void planChanges(DdlStatement statement) {
    switch (statement) {
      case DdlStatement.CreateSchema create -> createSchema(create);
      case DdlStatement.DropSchema drop -> drop.names().forEach(name -> dropSchema(name, drop));
      case DdlStatement.CreateTable create -> tables.create(schema(create.name()), create);
      case DdlStatement.CreateTableAs create -> tables.createAs(schema(create.name()), create);
      case DdlStatement.DropTable drop -> {
        List<Table> tables = new ArrayList<>();
        for (QualifiedName name : drop.names()) {
          Table table = find(name, drop.ifExists());
          if (table != null && !tables.contains(table)) {
            tables.add(table);
          }
        }
        dropTables(tables, drop.cascade());
      }
      case DdlStatement.Truncate truncate -> {
        List<Table> tables = new ArrayList<>();
        truncate.names().forEach(name -> tables.add(require(name)));
        java.util.Set<Table> all = references.truncated(tables, truncate.cascade());
        all.forEach(table -> rights.truncate(table, truncate.restartIdentity()));
        for (Table named : all) {
          // As the replacement of those before it has left it.
          Table table = java.util.Objects.requireNonNull(plan.state().table(named.tableId()));
          truncate(table);
          if (truncate.restartIdentity()) {
            sequences.restartOwned(table.columns());
          }
        }
      }
      case DdlStatement.CreateIndex create -> createIndex(create);
      case DdlStatement.DropIndex drop ->
          drop.names().forEach(name -> dropIndex(name, drop.ifExists(), drop.cascade()));
      case DdlStatement.AlterTable alter -> {
        String renamed = NamePlanner.newName(alter);
        if (renamed != null
            && "index".equals(kindOf(schema(alter.table()), alter.table().name()))) {
          renameIndex(new DdlStatement.RenameIndex(alter.table(), false, renamed));
        } else if (!names.alter(schema(alter.table()), alter)) {
          Table table = findToAlter(alter.table(), alter.ifExists());
          if (table != null) {
            new TableAlteration(plan, constraints, sequences, tables, table)
                .apply(alter.alterations());
          }
        }
      }
      case DdlStatement.AlterIndex alter -> requireIndex(alter);
      case DdlStatement.RenameSchema rename -> names.renameSchema(rename.from(), rename.to());
      case DdlStatement.RenameIndex rename -> renameIndex(rename);
      case DdlStatement.CreateView create -> {
        String schema = schema(create.name());
        plan.requireSchema(schema);
        views.create(schema, create);
      }
      case DdlStatement.DropView drop ->
          drop.names().forEach(name -> views.drop(schema(name), name.name(), drop.ifExists()));
      case DdlStatement.Comment comment -> new CommentPlanner(plan).plan(comment);
      case DdlStatement.CreateSequence create -> {
        String schema = schema(create.name());
        plan.requireSchema(schema);
        sequences.create(schema, create);
      }
      case DdlStatement.AlterSequence alter -> sequences.alter(schema(alter.name()), alter);
      case DdlStatement.AlterName alter -> names.alter(schema(alter.name()), alter);
      case DdlStatement.OfRights about -> planRights(about.statement());
      case DdlStatement.OfQueue about -> queues.plan(about.statement());
      case DdlStatement.OfApplication about -> applications.plan(about.statement());
      case DdlStatement.DropSequence drop ->
          drop.names()
              .forEach(name ->
                  sequences.drop(schema(name), name.name(), drop.ifExists(), drop.cascade()));
    }
  }

  private void planRights(RightsStatement statement) {
    switch (statement) {
      case RightsStatement.CreateRole create -> new RolePlanner(plan).create(create);
      case RightsStatement.AlterRole alter -> new RolePlanner(plan).alter(alter);
      case RightsStatement.RenameRole rename -> new RolePlanner(plan).rename(rename);
      case RightsStatement.DropRole drop -> new RolePlanner(plan).drop(drop);
      case RightsStatement.GrantRole grant -> new RolePlanner(plan).grant(grant);
      case RightsStatement.Grant grant -> new GrantPlanner(plan).grant(grant);
      case RightsStatement.AlterDefaults alter -> new DefaultsPlanner(plan).alter(alter);
      case RightsStatement.OwnerTo owner -> new OwnerPlanner(plan).change(owner);
      case RightsStatement.ReassignOwned reassign -> new OwnerPlanner(plan).reassign(reassign);
      case RightsStatement.DropOwned drop -> dropOwned(drop);
    }
  }

  /// Drops the objects that roles own, and takes back the privileges that were granted to them.
  private void dropOwned(RightsStatement.DropOwned drop) {
    OwnedObjects objects = new OwnedObjects(plan);
    for (Role role : objects.roles(drop.roles())) {
      objects.revokeAll(role.id());
      for (View view : objects.views(role.id())) {
        views.drop(view.schema(), view.name(), true);
      }
      dropTables(objects.tables(role.id()), drop.cascade());
      for (Sequence sequence : objects.sequences(role.id())) {
        sequences.drop(sequence.schema(), sequence.name(), true, drop.cascade());
      }
      objects.applications(role.id()).forEach(applications::drop);
      queues.drop(objects.queues(role.id()), drop.cascade());
      for (String schema : objects.schemas(role.id())) {
        dropSchema(schema, new DdlStatement.DropSchema(List.of(schema), true, drop.cascade()));
      }
    }
    views.checkAll(new DdlStatement.OfRights(drop), drop.cascade());
  }

  // ---- names ----

  static String schema(QualifiedName name) {
    String schema = name.schema();
    return schema == null ? CatalogSnapshot.DEFAULT_SCHEMA : schema;
  }

  private @Nullable Table find(QualifiedName name, boolean ifExists) {
    Table table = plan.state().table(schema(name), name.name());
    String kind = table == null ? kindOf(schema(name), name.name()) : null;
    if (kind != null) {
      throw new EngineException(
              ErrorCode.WRONG_OBJECT_TYPE, "\"" + name.name() + "\" is not a table")
          .withHint(
              "Use DROP %s to remove %s %s."
                  .formatted(
                      kind.toUpperCase(Locale.ROOT), kind.equals("index") ? "an" : "a", kind));
    }
    if (table == null && !ifExists) {
      throw new EngineException(
          ErrorCode.UNDEFINED_TABLE, "table \"" + name.name() + "\" does not exist");
    }
    return table;
  }

  /// Kind of the object that has the name and is no table, or null.
  private @Nullable String kindOf(String schema, String name) {
    return plan.state().view(schema, name) != null
        ? "view"
        : plan.state().sequence(schema, name) != null
            ? "sequence"
            : plan.state().queue(schema, name) != null
                ? "queue"
                : plan.state().tableOfIndex(schema, name) != null ? "index" : null;
  }

  private @Nullable Table findToAlter(QualifiedName name, boolean ifExists) {
    return ifExists && plan.state().table(schema(name), name.name()) == null ? null : require(name);
  }

  private Table require(QualifiedName name) {
    Table table = plan.state().table(schema(name), name.name());
    if (table == null && plan.isTaken(schema(name), name.name())) {
      throw new EngineException(
              ErrorCode.WRONG_OBJECT_TYPE, "\"" + name.name() + "\" is not a table")
          .withPosition(name.position());
    }
    if (table == null) {
      throw new EngineException(
              ErrorCode.UNDEFINED_TABLE, "relation \"" + name.name() + "\" does not exist")
          .withPosition(name.position());
    }
    refuseSystem(table.schema());
    return table;
  }

  static void refuseSystem(String schema) {
    if (SystemTables.isSystemSchema(schema)) {
      throw new EngineException(
          ErrorCode.WRONG_OBJECT_TYPE, "schema \"" + schema + "\" is a system schema");
    }
  }

  /// @throws EngineException RESERVED_NAME for the name of a new schema that PostgreSQL keeps for its own
  static void refuseReserved(String schema) {
    if (schema.startsWith("pg_")) {
      throw new EngineException(
              ErrorCode.RESERVED_NAME, "unacceptable schema name \"" + schema + "\"")
          .withDetail("The prefix \"pg_\" is reserved for system schemas.");
    }
  }

  static EngineException noSchema(String name) {
    return new EngineException(
        ErrorCode.UNDEFINED_SCHEMA, "schema \"" + name + "\" does not exist");
  }

  // ---- schemas ----

  private void createSchema(DdlStatement.CreateSchema create) {
    refuseReserved(create.name());
    if (!plan.state().hasSchema(create.name())) {
      plan.change(CatalogSnapshot.putSchema(create.name(), null));
      if (plan.state().roles().isUsed()) {
        Rights made = plan.made(ObjectKind.SCHEMA, "");
        RightsStatement.RoleName owner = create.owner();
        plan.change(
            Access.putSchema(
                create.name(),
                owner == null
                    ? made
                    : plan.state().access().made(plan.role(owner).id(), ObjectKind.SCHEMA, "")));
      } else if (create.owner() != null) {
        throw DefinitionPlan.noRole(create.owner().name());
      }
    } else if (!create.ifNotExists()) {
      throw new EngineException(
          ErrorCode.DUPLICATE_SCHEMA, "schema \"" + create.name() + "\" already exists");
    }
  }

  private void dropSchema(String name, DdlStatement.DropSchema drop) {
    if (!plan.state().hasSchema(name)) {
      if (drop.ifExists()) {
        return;
      }
      throw noSchema(name);
    }
    refuseSystem(name);
    List<Table> tables = List.copyOf(plan.state().tables(name));
    List<String> contents = new ArrayList<>();
    tables.forEach(table -> contents.add("table " + name + "." + table.name()));
    plan.state().sequences().stream()
        .filter(sequence -> sequence.schema().equals(name))
        .forEach(sequence -> contents.add("sequence " + name + "." + sequence.name()));
    plan.state().views().stream()
        .filter(view -> view.schema().equals(name))
        .forEach(view -> contents.add("view " + name + "." + view.name()));
    List<Queue> queuesThere = queues.inSchema(name);
    queuesThere.forEach(queue -> contents.add("queue " + name + "." + queue.name()));
    List<DeployedApplication> applicationsThere = applications.inSchema(name);
    applicationsThere.forEach(each -> contents.add("application " + name + "." + each.name()));
    if (!contents.isEmpty() && !drop.cascade()) {
      throw new EngineException(
              ErrorCode.DEPENDENT_OBJECTS_EXIST,
              "cannot drop schema " + name + " because other objects depend on it")
          .withDetail(contents.getFirst() + " depends on schema " + name)
          .withHint("Use DROP ... CASCADE to drop the dependent objects too.");
    }
    views.dropAll(name);
    dropTables(tables, true);
    sequences.dropAll(name);
    applicationsThere.forEach(applications::drop);
    queues.drop(queuesThere, true);
    plan.change(CatalogSnapshot.removeSchema(name));
    new OwnedObjects(plan).forgetSchema(name);
  }

  // ---- tables ----

  private void dropTables(List<Table> tables, boolean cascade) {
    tables.forEach(table -> refuseSystem(table.schema()));
    references.dropped(tables, cascade);
    for (Table table : tables) {
      replaceTable(table);
    }
    for (Table table : tables) {
      sequences.dropOwned(table.columns(), cascade);
    }
  }

  private void replaceTable(Table table) {
    plan.lock(table, Mode.EXCLUSIVE);
    plan.change(new CatalogChange.DropTable(table.tableId()));
    plan.change(CatalogSnapshot.remove(table));
  }

  /// Replaces the table by an empty one of the same form, under a new number.
  private void truncate(Table table) {
    List<Index> indexes = new ArrayList<>();
    for (Index index : table.indexes()) {
      indexes.add(index.renumbered(plan.newObjectId()));
    }
    Table empty = table.renumbered(plan.newObjectId()).withIndexes(indexes);
    replaceTable(table);
    plan.change(new CatalogChange.CreateTable(empty.definition()));
    plan.change(CatalogSnapshot.put(empty));
    references.replaced(table.tableId(), empty);
  }

  // ---- indexes ----

  private void createIndex(DdlStatement.CreateIndex create) {
    Table table = require(create.table());
    List<String> columns = new ArrayList<>();
    List<DdlStatement.ColumnDefinition> expressions = new ArrayList<>();
    for (DdlStatement.IndexElement element : create.elements()) {
      columns.add(indexColumn(table, element, expressions));
    }
    String given = create.name();
    List<String> labels = create.elements().stream().map(DdlStatement.IndexElement::label).toList();
    String name = given != null ? given : constraints.freeName(table, labels, "idx");
    if (create.ifNotExists() && plan.isTaken(table.schema(), name)) {
      return;
    }
    plan.refuseTaken(table.schema(), name);
    Function<Table, Index> index =
        of ->
            new Index(
                    name,
                    plan.newObjectId(),
                    columns.stream().map(of::columnIndex).toList(),
                    create.elements().stream().map(DdlStatement.IndexElement::descending).toList(),
                    create.unique(),
                    false,
                    false,
                    null)
                .withNulls(
                    create.elements().stream().map(DdlStatement.IndexElement::nullsFirst).toList(),
                    create.nullsNotDistinct())
                .where(predicate(create.where(), of));
    if (!expressions.isEmpty()) {
      new TableAlteration(plan, constraints, sequences, tables, table).addIndex(expressions, index);
      return;
    }
    Index plain = index.apply(table);
    List<Index> indexes = new ArrayList<>(table.indexes());
    indexes.add(plain);
    plan.lock(table, Mode.BUILD);
    plan.change(new CatalogChange.CreateIndex(table.tableId(), plain.definition()));
    plan.change(CatalogSnapshot.put(table.withIndexes(indexes)));
  }

  /// The name of the column that an element of an index is, or is to have.
  ///
  /// @param expressions gets the column of an expression
  private String indexColumn(
      Table table,
      DdlStatement.IndexElement element,
      List<DdlStatement.ColumnDefinition> expressions) {
    String expression = element.expression();
    SqlType type;
    String name;
    if (expression == null) {
      name = Objects.requireNonNull(element.column());
      int position = table.columnIndex(name);
      if (position < 0) {
        ColumnNames.refuseKey(name);
        throw new EngineException(
            ErrorCode.UNDEFINED_COLUMN, "column \"" + name + "\" does not exist");
      }
      type = table.columns().get(position).type();
    } else {
      TableExpressions.Indexed indexed =
          TableExpressions.indexExpression(expression, table, plan.state());
      type = indexed.type();
      if (indexed.column() >= 0) {
        name = table.columns().get(indexed.column()).name();
      } else {
        name = Column.hiddenName(plan.newObjectId());
        expressions.add(
            new DdlStatement.ColumnDefinition(name, type, false, null, null, expression, null));
      }
    }
    ConstraintPlanner.requireKey(type);
    IndexConditions.requireCollation(element.collation(), type);
    return name;
  }

  private List<IndexCondition> predicate(@Nullable String where, Table table) {
    return where == null
        ? List.of()
        : IndexConditions.of(where, table, plan.state(), plan.rows()::constant);
  }

  private void dropIndex(QualifiedName indexName, boolean ifExists, boolean cascade) {
    String schema = schema(indexName);
    String name = indexName.name();
    Table table = plan.state().tableOfIndex(schema, name);
    if (table == null) {
      if (ifExists && !plan.isTaken(schema, name)) {
        return;
      }
      throw plan.isTaken(schema, name)
          ? new EngineException(ErrorCode.WRONG_OBJECT_TYPE, "\"" + name + "\" is not an index")
          : new EngineException(
              ErrorCode.UNDEFINED_OBJECT, "index \"" + name + "\" does not exist");
    }
    refuseSystem(schema);
    List<Index> remaining = new ArrayList<>();
    for (Index index : table.indexes()) {
      if (!index.name().equals(name)) {
        remaining.add(index);
      } else if (index.constraint()) {
        throw new EngineException(
                ErrorCode.DEPENDENT_OBJECTS_EXIST,
                "cannot drop index "
                    + name
                    + " because constraint "
                    + name
                    + " on table "
                    + table.name()
                    + " requires it")
            .withTable(schema, table.name());
      } else if (table.hasExpression(index)) {
        new TableAlteration(plan, constraints, sequences, tables, table).dropIndex(index);
        return;
      } else {
        plan.lock(table, Mode.EXCLUSIVE);
        plan.change(new CatalogChange.DropIndex(table.tableId(), index.indexId()));
      }
    }
    Table without = table.withIndexes(remaining);
    plan.change(CatalogSnapshot.put(references.altered(table, without, column -> column, cascade)));
  }

  /// ALTER INDEX that changes nothing here.
  private void requireIndex(DdlStatement.AlterIndex alter) {
    String name = alter.index().name();
    if (plan.state().tableOfIndex(schema(alter.index()), name) == null && !alter.ifExists()) {
      throw new EngineException(
          ErrorCode.UNDEFINED_TABLE, "relation \"" + name + "\" does not exist");
    }
  }

  private void renameIndex(DdlStatement.RenameIndex rename) {
    String schema = schema(rename.index());
    String name = rename.index().name();
    Table table = plan.state().tableOfIndex(schema, name);
    if (table == null) {
      if (rename.ifExists()) {
        return;
      }
      throw new EngineException(
          ErrorCode.UNDEFINED_TABLE, "relation \"" + name + "\" does not exist");
    }
    refuseSystem(schema);
    new TableAlteration(plan, constraints, sequences, tables, table).renameIndex(name, rename.to());
  }
}
