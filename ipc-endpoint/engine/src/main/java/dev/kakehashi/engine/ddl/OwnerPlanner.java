package dev.kakehashi.engine.ddl;

import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.engine.catalog.Access;
import dev.kakehashi.engine.catalog.CatalogSnapshot;
import dev.kakehashi.engine.catalog.Column;
import dev.kakehashi.engine.catalog.DeployedApplication;
import dev.kakehashi.engine.catalog.Permissions;
import dev.kakehashi.engine.catalog.Queue;
import dev.kakehashi.engine.catalog.Sequence;
import dev.kakehashi.engine.catalog.Table;
import dev.kakehashi.engine.catalog.View;
import dev.kakehashi.engine.rights.Acl;
import dev.kakehashi.engine.rights.Privilege;
import dev.kakehashi.engine.rights.Rights;
import dev.kakehashi.engine.rights.Role;
import dev.kakehashi.engine.sql.lexer.QualifiedName;
import dev.kakehashi.engine.sql.parser.RightsStatement;
import dev.kakehashi.engine.sql.parser.RightsStatement.Owned;
import dev.kakehashi.engine.sql.parser.RightsStatement.RoleName;
import dev.kakehashi.protocol.ErrorCode;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;

/// ALTER ... OWNER TO and REASSIGN OWNED. Indexes and sequences of columns go with their tables; what the old owner was granted is the new
/// one's.
final class OwnerPlanner {
  private final DefinitionPlan plan;

  OwnerPlanner(DefinitionPlan plan) {
    this.plan = plan;
  }

  void change(RightsStatement.OwnerTo change) {
    switch (change.kind()) {
      case SCHEMA -> ofSchema(change);
      case DATABASE -> ofDatabase(change);
      case APPLICATION -> ofApplication(change);
      default -> ofRelation(change);
    }
  }

  private void ofSchema(RightsStatement.OwnerTo change) {
    String name = change.name().name();
    if (!plan.state().hasSchema(name)) {
      throw DefinitionPlanner.noSchema(name);
    }
    Role owner = plan.role(change.owner());
    DefinitionPlanner.refuseSystem(name);
    Rights rights = plan.state().access().schema(name);
    if (rights.owner() == owner.id()) {
      return;
    }
    plan.permissions().requireOwner(rights, "schema", name);
    requireMember(owner);
    if ((plan.permissions().onDatabase() & Privilege.CREATE.bit()) == 0) {
      throw Permissions.denied("database", Access.DATABASE);
    }
    plan.change(Access.putSchema(name, rights.ownedBy(owner.id())));
  }

  private void ofDatabase(RightsStatement.OwnerTo change) {
    if (!change.name().name().equals(Access.DATABASE)) {
      throw new EngineException(
          ErrorCode.UNDEFINED_OBJECT, "database \"" + change.name().name() + "\" does not exist");
    }
    Role owner = plan.role(change.owner());
    Rights rights = plan.state().access().database();
    plan.permissions().requireOwner(rights, "database", Access.DATABASE);
    requireMember(owner);
    plan.change(Access.putDatabase(rights.ownedBy(owner.id())));
  }

  private void ofApplication(RightsStatement.OwnerTo change) {
    DeployedApplication found = ApplicationPlanner.find(plan, change.name(), change.ifExists());
    if (found != null
        && require(
            found.rights(), Owned.APPLICATION, found.schema(), found.name(), change.owner())) {
      give(found, plan.role(change.owner()).id());
    }
  }

  private void requireMember(Role owner) {
    if (!plan.state().roles().isMemberOf(plan.definer().role(), owner.id())) {
      throw DefinitionRights.mustBeMember(owner.name());
    }
  }

  private void ofRelation(RightsStatement.OwnerTo change) {
    QualifiedName name = change.name();
    String schema = DefinitionPlanner.schema(name);
    CatalogSnapshot state = plan.state();
    if (name.schema() != null && state.hasSchema(schema)) {
      plan.permissions().requireOnSchema(schema, Privilege.USAGE);
    }
    Table table = state.table(schema, name.name());
    View view = state.view(schema, name.name());
    Sequence sequence = state.sequence(schema, name.name());
    Queue queue = state.queue(schema, name.name());
    boolean ofKind =
        switch (change.kind()) {
          case VIEW -> view != null;
          case SEQUENCE -> sequence != null;
          case QUEUE -> queue != null;
          default -> table != null || view != null || sequence != null;
        };
    if (!ofKind) {
      if (plan.isTaken(schema, name.name())) {
        String kind = change.kind().name().toLowerCase(Locale.ROOT);
        throw new EngineException(
            ErrorCode.WRONG_OBJECT_TYPE, "\"%s\" is not a %s".formatted(name.name(), kind));
      }
      if (change.ifExists()) {
        return;
      }
      throw new EngineException(
              ErrorCode.UNDEFINED_TABLE, "relation \"" + name.name() + "\" does not exist")
          .withPosition(name.position());
    }
    DefinitionPlanner.refuseSystem(schema);
    if (queue != null) {
      if (require(queue.rights(), Owned.QUEUE, schema, name.name(), change.owner())) {
        give(queue, plan.role(change.owner()).id());
      }
    } else if (table != null) {
      if (require(table.rights(), Owned.TABLE, schema, name.name(), change.owner())) {
        give(table, plan.role(change.owner()).id());
      }
    } else if (view != null) {
      if (require(view.rights(), Owned.VIEW, schema, name.name(), change.owner())) {
        give(view, plan.role(change.owner()).id());
      }
    } else if (sequence != null
        && require(sequence.rights(), Owned.SEQUENCE, schema, name.name(), change.owner())) {
      SequencePlanner.Owner column = SequencePlanner.owner(sequence, state);
      if (column != null) {
        throw column.refuse(
            sequence, "cannot change owner of sequence \"" + sequence.name() + "\"");
      }
      give(sequence, plan.role(change.owner()).id());
    }
  }

  /// Whether the owner changes.
  ///
  /// @throws EngineException INSUFFICIENT_PRIVILEGE if it may not
  private boolean require(Rights rights, Owned kind, String schema, String name, RoleName named) {
    plan.permissions().requireOwner(rights, kind.name().toLowerCase(Locale.ROOT), name);
    Role owner = plan.role(named);
    if (rights.owner() == owner.id()) {
      return false;
    }
    if (!plan.permissions().isSuperuser()) {
      requireMember(owner);
      new Permissions(plan.state(), owner.id()).requireOnSchema(schema, Privilege.CREATE);
    }
    return true;
  }

  private void give(Table table, long owner) {
    long before = table.rights().owner();
    for (Column column : table.columns()) {
      Column.Owned owned = column.sequence();
      Sequence sequence = owned == null ? null : plan.state().sequence(owned.sequenceId());
      if (sequence != null) {
        give(sequence, owner);
      }
    }
    plan.change(
        CatalogSnapshot.put(
            table
                .withColumns(given(table.columns(), before, owner))
                .withRights(table.rights().ownedBy(owner))));
  }

  private static List<Column> given(List<Column> columns, long before, long owner) {
    List<Column> given = new ArrayList<>(columns);
    given.replaceAll(
        column -> column.withAcl(column.acl().renamed(role -> role == before ? owner : role)));
    return given;
  }

  private void give(View view, long owner) {
    plan.change(
        CatalogSnapshot.put(
            view.withColumns(given(view.columns(), view.rights().owner(), owner))
                .withRights(view.rights().ownedBy(owner))));
  }

  private void give(Sequence sequence, long owner) {
    plan.change(CatalogSnapshot.put(sequence.withRights(sequence.rights().ownedBy(owner))));
  }

  private void give(Queue queue, long owner) {
    plan.change(CatalogSnapshot.put(queue.withRights(queue.rights().ownedBy(owner))));
  }

  private void give(DeployedApplication application, long owner) {
    long before = application.rights().owner();
    Map<String, Acl> granted = new TreeMap<>(application.granted());
    granted.replaceAll((name, acl) -> acl.renamed(role -> role == before ? owner : role));
    plan.change(
        CatalogSnapshot.put(application.with(application.rights().ownedBy(owner), granted)));
  }

  void reassign(RightsStatement.ReassignOwned reassign) {
    Role to = plan.role(reassign.to());
    OwnedObjects objects = new OwnedObjects(plan);
    for (RoleName each : reassign.roles()) {
      Role from = plan.role(each);
      if (!plan.permissions().has(from.id()) || !plan.permissions().has(to.id())) {
        throw new EngineException(
            ErrorCode.INSUFFICIENT_PRIVILEGE, "permission denied to reassign objects");
      }
      OwnedObjects.refuseSystem(from, "reassign");
      Rights database = plan.state().access().database();
      if (database.owner() == from.id()) {
        plan.change(Access.putDatabase(database.ownedBy(to.id())));
      }
      for (String schema : objects.schemas(from.id())) {
        plan.change(
            Access.putSchema(schema, plan.state().access().schema(schema).ownedBy(to.id())));
      }
      objects.tables(from.id()).forEach(table -> give(table, to.id()));
      objects.views(from.id()).forEach(view -> give(view, to.id()));
      // Sequences of columns have gone with their tables.
      objects.sequences(from.id()).forEach(sequence -> give(sequence, to.id()));
      objects.queues(from.id()).forEach(queue -> give(queue, to.id()));
      objects.applications(from.id()).forEach(own -> give(own, to.id()));
    }
  }
}
