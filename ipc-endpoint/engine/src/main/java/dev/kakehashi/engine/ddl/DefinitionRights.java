package dev.kakehashi.engine.ddl;

import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.engine.catalog.Access;
import dev.kakehashi.engine.catalog.CatalogSnapshot;
import dev.kakehashi.engine.catalog.Column;
import dev.kakehashi.engine.catalog.Permissions;
import dev.kakehashi.engine.catalog.Queue;
import dev.kakehashi.engine.catalog.Sequence;
import dev.kakehashi.engine.catalog.Table;
import dev.kakehashi.engine.catalog.View;
import dev.kakehashi.engine.rights.ObjectKind;
import dev.kakehashi.engine.rights.Privilege;
import dev.kakehashi.engine.rights.Role;
import dev.kakehashi.engine.sql.lexer.QualifiedName;
import dev.kakehashi.engine.sql.parser.DdlStatement;
import dev.kakehashi.engine.sql.parser.DdlStatement.Alteration;
import dev.kakehashi.engine.sql.parser.RightsStatement.RoleName;
import dev.kakehashi.protocol.ErrorCode;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/// Whether somebody may change the catalogue as a statement says: it takes the owner to change or drop an object, and CREATE to make one
/// where it is to be.
///
/// Objects that are not there are not looked at: that they are missing is said when the statement is planned.
final class DefinitionRights {
  private final DefinitionPlan plan;

  DefinitionRights(DefinitionPlan plan) {
    this.plan = plan;
  }

  /// @throws EngineException INSUFFICIENT_PRIVILEGE
  void check(DdlStatement statement) {
    if (!plan.state().roles().isUsed()) {
      return;
    }
    switch (statement) {
      case DdlStatement.CreateSchema create -> createSchema(create);
      case DdlStatement.DropSchema drop -> drop.names().forEach(this::ownSchema);
      case DdlStatement.RenameSchema rename -> {
        ownSchema(rename.from());
        createInDatabase();
      }
      case DdlStatement.CreateTable create -> {
        createIn(create.name());
        create.likes().forEach(like -> read(like.source()));
        references(create.constraints());
      }
      case DdlStatement.CreateTableAs create -> createIn(create.name());
      case DdlStatement.CreateView create -> {
        createIn(create.name());
        if (create.orReplace()) {
          own(create.name(), false);
        }
      }
      case DdlStatement.CreateSequence create -> createIn(create.name());
      case DdlStatement.CreateIndex create -> {
        own(create.table(), false);
        createIn(create.table());
      }
      case DdlStatement.DropTable drop -> drop(drop.names(), plan.state()::table);
      case DdlStatement.DropView drop -> drop(drop.names(), plan.state()::view);
      case DdlStatement.DropSequence drop -> drop(drop.names(), plan.state()::sequence);
      case DdlStatement.DropIndex drop -> drop(drop.names(), plan.state()::tableOfIndex);
      case DdlStatement.AlterTable alter -> alter(alter);
      case DdlStatement.AlterIndex alter -> own(alter.index(), false);
      case DdlStatement.RenameIndex rename -> {
        own(rename.index(), false);
        createIn(rename.index());
      }
      case DdlStatement.AlterSequence alter -> own(alter.name(), false);
      case DdlStatement.AlterName alter -> {
        own(alter.name(), false);
        String schema = alter.schema();
        createIn(schema == null ? DefinitionPlanner.schema(alter.name()) : schema);
      }
      case DdlStatement.Comment comment -> comment(comment);
      // TRUNCATE is looked at when all its tables are known, statements about rights and
      // queues and applications by their own planners.
      case DdlStatement.Truncate truncate -> {}
      case DdlStatement.OfRights rights -> {}
      case DdlStatement.OfQueue queue -> {}
      case DdlStatement.OfApplication application -> {}
    }
  }

  private Permissions permissions() {
    return plan.permissions();
  }

  private void createSchema(DdlStatement.CreateSchema create) {
    RoleName named = create.owner();
    if (named != null) {
      Role owner = plan.role(named);
      if (!plan.state().roles().isMemberOf(permissions().role(), owner.id())) {
        throw mustBeMember(owner.name());
      }
    }
    createInDatabase();
  }

  static EngineException mustBeMember(String role) {
    return new EngineException(
        ErrorCode.INSUFFICIENT_PRIVILEGE, "must be member of role \"" + role + "\"");
  }

  private void createInDatabase() {
    if ((permissions().onDatabase() & Privilege.CREATE.bit()) == 0) {
      throw Permissions.denied("database", Access.DATABASE);
    }
  }

  private void ownSchema(String name) {
    CatalogSnapshot state = plan.state();
    if (state.hasSchema(name)) {
      permissions().requireOwner(state.access().schema(name), "schema", name);
    }
  }

  private void createIn(QualifiedName name) {
    createIn(DefinitionPlanner.schema(name));
  }

  private void createIn(String schema) {
    if (plan.state().hasSchema(schema)) {
      permissions().requireOnSchema(schema, Privilege.CREATE);
    }
  }

  /// Finds an object of a kind.
  private interface Finder {
    @Nullable Object find(String schema, String name);
  }

  /// Objects of another kind are not looked at: the error comes when the statement is planned.
  private void drop(List<QualifiedName> names, Finder finder) {
    for (QualifiedName name : names) {
      use(name);
      if (finder.find(DefinitionPlanner.schema(name), name.name()) != null) {
        own(name, true);
      }
    }
  }

  /// @param orSchema whether it does to own the schema
  private void own(QualifiedName name, boolean orSchema) {
    String schema = DefinitionPlanner.schema(name);
    CatalogSnapshot state = plan.state();
    if (!state.hasSchema(schema)) {
      return;
    }
    use(name);
    if (orSchema && permissions().owns(state.access().schema(schema))) {
      return;
    }
    String relation = name.name();
    Table table = state.table(schema, relation);
    View view = state.view(schema, relation);
    Sequence sequence = state.sequence(schema, relation);
    Table indexed = state.tableOfIndex(schema, relation);
    if (table != null) {
      permissions().requireOwner(table.rights(), "table", relation);
    } else if (view != null) {
      permissions().requireOwner(view.rights(), "view", relation);
    } else if (sequence != null) {
      permissions().requireOwner(sequence.rights(), "sequence", relation);
    } else if (state.queue(schema, relation) != null) {
      Queue queue = Objects.requireNonNull(state.queue(schema, relation));
      permissions().requireOwner(queue.rights(), "queue", relation);
    } else if (indexed != null) {
      permissions().requireOwner(indexed.rights(), "index", relation);
    }
  }

  /// A user who names a schema must be allowed to look into it.
  private void use(QualifiedName name) {
    String schema = name.schema();
    if (schema != null && plan.state().hasSchema(schema)) {
      permissions().requireOnSchema(schema, Privilege.USAGE);
    }
  }

  private void read(QualifiedName name) {
    String schema = DefinitionPlanner.schema(name);
    Table table = plan.state().table(schema, name.name());
    View view = plan.state().view(schema, name.name());
    if (table == null && view == null) {
      return;
    }
    Table form = table == null ? Objects.requireNonNull(view).form() : table;
    if (!form.isSystem()
        && (permissions().on(ObjectKind.TABLE, form.rights()) & Privilege.SELECT.bit()) == 0) {
      throw Permissions.denied(table == null ? "view" : "table", name.name());
    }
  }

  private void alter(DdlStatement.AlterTable alter) {
    own(alter.table(), false);
    for (Alteration each : alter.alterations()) {
      switch (each) {
        case Alteration.RenameTable rename -> createIn(alter.table());
        case Alteration.SetSchema set -> createIn(set.schema());
        case Alteration.AddConstraint add -> references(add.constraint());
        case Alteration.AddColumn add -> references(add.constraints());
        default -> {}
      }
    }
  }

  /// A foreign key needs REFERENCES on the columns that it references.
  private void references(DdlStatement.Constraints constraints) {
    for (DdlStatement.ForeignKeyDefinition key : constraints.foreignKeys()) {
      QualifiedName name = key.referenced();
      Table table = plan.state().table(DefinitionPlanner.schema(name), name.name());
      if (table == null || table.isSystem()) {
        continue;
      }
      if ((permissions().on(ObjectKind.TABLE, table.rights()) & Privilege.REFERENCES.bit()) == 0
          && !referencesColumns(table, key.referencedColumns())) {
        throw Permissions.denied("table", table.name());
      }
    }
  }

  private boolean referencesColumns(Table table, @Nullable List<String> names) {
    List<Integer> columns =
        names != null
            ? names.stream().map(table::columnIndex).filter(column -> column >= 0).toList()
            : table.primaryKey() == null
                ? List.of()
                : Objects.requireNonNull(table.primaryKey()).columns();
    return columns.stream()
        .map(table.columns()::get)
        .allMatch(column -> (permissions().on(column) & Privilege.REFERENCES.bit()) != 0);
  }

  private void comment(DdlStatement.Comment comment) {
    switch (comment.kind()) {
      case SCHEMA -> ownSchema(comment.name().name());
      case ROLE -> {
        Role role = plan.state().roles().role(comment.name().name());
        if (role != null) {
          new RolePlanner(plan).requireChange(role);
        }
      }
      default -> own(comment.name(), false);
    }
  }

  /// Whether a table may be emptied.
  ///
  /// @throws EngineException INSUFFICIENT_PRIVILEGE
  void truncate(Table table, boolean restart) {
    if ((permissions().on(ObjectKind.TABLE, table.rights()) & Privilege.TRUNCATE.bit()) == 0) {
      throw Permissions.denied("table", table.name());
    }
    for (Column column : table.columns()) {
      Column.Owned owned = restart ? column.sequence() : null;
      Sequence sequence = owned == null ? null : plan.state().sequence(owned.sequenceId());
      if (sequence != null) {
        permissions().requireOwner(sequence.rights(), "sequence", sequence.name());
      }
    }
  }
}
