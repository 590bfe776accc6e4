package dev.kakehashi.engine.ddl;

import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.engine.catalog.Access;
import dev.kakehashi.engine.catalog.CatalogSnapshot;
import dev.kakehashi.engine.catalog.Column;
import dev.kakehashi.engine.catalog.DeployedApplication;
import dev.kakehashi.engine.catalog.Queue;
import dev.kakehashi.engine.catalog.Sequence;
import dev.kakehashi.engine.catalog.Table;
import dev.kakehashi.engine.catalog.View;
import dev.kakehashi.engine.rights.Acl;
import dev.kakehashi.engine.rights.AclItem;
import dev.kakehashi.engine.rights.ObjectKind;
import dev.kakehashi.engine.rights.Rights;
import dev.kakehashi.engine.rights.Role;
import dev.kakehashi.engine.rights.RoleSet;
import dev.kakehashi.engine.sql.parser.RightsStatement.RoleName;
import dev.kakehashi.protocol.ErrorCode;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/// Dependencies on a role: the objects that it owns, and the privileges that were granted to it or by it.
final class OwnedObjects {
  private final DefinitionPlan plan;

  OwnedObjects(DefinitionPlan plan) {
    this.plan = plan;
  }

  private Access access() {
    return plan.state().access();
  }

  /// The roles of DROP OWNED.
  ///
  /// @throws EngineException INSUFFICIENT_PRIVILEGE, DEPENDENT_OBJECTS_EXIST for the role that owns the system
  List<Role> roles(List<RoleName> named) {
    List<Role> roles = new ArrayList<>();
    for (RoleName each : named) {
      Role role = plan.role(each);
      if (!plan.permissions().has(role.id())) {
        throw new EngineException(
            ErrorCode.INSUFFICIENT_PRIVILEGE, "permission denied to drop objects");
      }
      refuseSystem(role, "drop");
      roles.add(role);
    }
    return roles;
  }

  static void refuseSystem(Role role, String verb) {
    if (role.id() == RoleSet.SUPERUSER || RoleSet.isPredefined(role.id())) {
      throw new EngineException(
          ErrorCode.DEPENDENT_OBJECTS_EXIST,
          "cannot %s objects owned by role %s because they are required by the database system"
              .formatted(verb, role.name()));
    }
  }

  List<Table> tables(long role) {
    return plan.state().tables().stream()
        .filter(table -> !table.isSystem() && table.rights().owner() == role)
        .toList();
  }

  List<View> views(long role) {
    return plan.state().views().stream().filter(view -> view.rights().owner() == role).toList();
  }

  List<Sequence> sequences(long role) {
    return plan.state().sequences().stream()
        .filter(sequence -> sequence.rights().owner() == role)
        .toList();
  }

  List<Queue> queues(long role) {
    return plan.state().queueObjects().stream()
        .filter(queue -> queue.rights().owner() == role)
        .toList();
  }

  List<DeployedApplication> applications(long role) {
    return plan.state().applications().all().stream()
        .filter(each -> each.rights().owner() == role)
        .toList();
  }

  List<String> schemas(long role) {
    return plan.state().schemas().stream()
        .filter(schema -> access().schema(schema).owner() == role)
        .toList();
  }

  /// Why a role cannot be dropped, as PostgreSQL says it; empty: nothing depends on it.
  List<String> dependents(long role) {
    List<String> found = new ArrayList<>();
    CatalogSnapshot state = plan.state();
    if (access().database().names(role)) {
      found.add(why(access().database(), role) + "database " + Access.DATABASE);
    }
    for (String schema : state.schemas()) {
      if (access().schema(schema).names(role)) {
        found.add(why(access().schema(schema), role) + "schema " + schema);
      }
    }
    for (String location : access().locations()) {
      if (access().location(location).names(role)) {
        found.add(why(access().location(location), role) + "location " + location);
      }
    }
    for (Table table : state.tables()) {
      addTable(found, table, "table ", role);
    }
    for (View view : state.views()) {
      addTable(found, view.form(), "view ", role);
    }
    for (Sequence sequence : state.sequences()) {
      if (sequence.rights().names(role)) {
        found.add(
            why(sequence.rights(), role) + "sequence " + shown(sequence.schema(), sequence.name()));
      }
    }
    for (Queue queue : state.queueObjects()) {
      if (queue.rights().names(role)) {
        found.add(why(queue.rights(), role) + "queue " + shown(queue.schema(), queue.name()));
      }
    }
    for (DeployedApplication each : state.applications().all()) {
      if (each.rights().names(role)
          || each.granted().values().stream().anyMatch(acl -> acl.names(role))) {
        found.add(why(each.rights(), role) + "application " + shown(each.schema(), each.name()));
      }
    }
    for (Access.Default said : access().defaults()) {
      if (said.role() == role || said.granted().names(role)) {
        found.add(
            "%s default privileges on new %s belonging to role %s"
                .formatted(
                    said.role() == role ? "owner of" : "privileges for",
                    said.kind() == ObjectKind.TABLE ? "relations" : said.kind().noun() + "s",
                    state.roles().name(said.role())));
      }
    }
    return found;
  }

  private static void addTable(List<String> found, Table form, String noun, long role) {
    boolean names =
        form.rights().names(role)
            || form.columns().stream().anyMatch(column -> column.acl().names(role));
    if (names) {
      found.add(why(form.rights(), role) + noun + shown(form.schema(), form.name()));
    }
  }

  private static String why(Rights rights, long role) {
    return rights.owner() == role ? "owner of " : "privileges for ";
  }

  private static String shown(String schema, String name) {
    return schema.equals(CatalogSnapshot.DEFAULT_SCHEMA) ? name : schema + "." + name;
  }

  /// Takes back all privileges that were granted to a role, or by it.
  void revokeAll(long role) {
    if (granted(access().database(), role)) {
      plan.change(Access.putDatabase(without(access().database(), ObjectKind.DATABASE, role)));
    }
    for (String schema : List.copyOf(plan.state().schemas())) {
      Rights rights = access().schema(schema);
      if (granted(rights, role)) {
        plan.change(Access.putSchema(schema, without(rights, ObjectKind.SCHEMA, role)));
      }
    }
    for (String location : access().locations()) {
      Rights rights = access().location(location);
      if (granted(rights, role)) {
        plan.change(Access.putLocation(location, without(rights, ObjectKind.LOCATION, role)));
      }
    }
    for (Table table : plan.state().tables()) {
      if (!table.isSystem() && isGranted(table, role)) {
        Table next = without(table, role);
        plan.change(CatalogSnapshot.put(next));
      }
    }
    for (View view : List.copyOf(plan.state().views())) {
      if (isGranted(view.form(), role)) {
        Table next = without(view.form(), role);
        plan.change(
            CatalogSnapshot.put(view.withColumns(next.columns()).withRights(next.rights())));
      }
    }
    for (Sequence sequence : List.copyOf(plan.state().sequences())) {
      if (granted(sequence.rights(), role)) {
        plan.change(
            CatalogSnapshot.put(
                sequence.withRights(without(sequence.rights(), ObjectKind.SEQUENCE, role))));
      }
    }
    for (Queue queue : List.copyOf(plan.state().queueObjects())) {
      if (granted(queue.rights(), role)) {
        plan.change(
            CatalogSnapshot.put(queue.withRights(without(queue.rights(), ObjectKind.QUEUE, role))));
      }
    }
    for (DeployedApplication each : List.copyOf(plan.state().applications().all())) {
      long owner = each.rights().owner();
      if (owner == role) {
        continue;
      }
      Map<String, Acl> granted = new TreeMap<>(each.granted());
      granted.replaceAll((name, acl) -> without(acl, owner, role));
      Rights rights = without(each.rights(), ObjectKind.APPLICATION, role);
      if (!granted.equals(each.granted()) || !rights.equals(each.rights())) {
        plan.change(CatalogSnapshot.put(each.with(rights, granted)));
      }
    }
    for (Access.Default said : access().defaults()) {
      if (said.role() == role) {
        plan.change(Access.remove(said));
      } else if (said.granted().names(role)) {
        Acl left = without(said.granted(), said.role(), role);
        plan.change(
            left.items().isEmpty()
                ? Access.remove(said)
                : Access.put(new Access.Default(said.role(), said.kind(), said.schema(), left)));
      }
    }
  }

  private static boolean granted(Rights rights, long role) {
    Acl acl = rights.acl();
    return rights.owner() != role && acl != null && acl.names(role);
  }

  private static boolean isGranted(Table form, long role) {
    return granted(form.rights(), role)
        || (form.rights().owner() != role
            && form.columns().stream().anyMatch(column -> column.acl().names(role)));
  }

  private Table without(Table form, long role) {
    List<Column> columns = new ArrayList<>(form.columns());
    columns.replaceAll(
        column -> column.withAcl(without(column.acl(), form.rights().owner(), role)));
    return form.withColumns(columns).withRights(without(form.rights(), ObjectKind.TABLE, role));
  }

  private Rights without(Rights rights, ObjectKind kind, long role) {
    Acl acl = rights.acl();
    return acl == null ? rights : rights.with(without(acl, rights.owner(), role), kind);
  }

  private Acl without(Acl acl, long owner, long role) {
    Acl left = acl;
    for (AclItem item : acl.items()) {
      if (item.grantee() == role || item.grantor() == role) {
        AclItem all = new AclItem(item.grantee(), item.grantor(), -1, -1);
        left = left.changed(new Acl.Change(all, owner, false, true, plan.state().roles()));
      }
    }
    return left;
  }

  // ---- schemas ----

  /// Forgets the rights and default privileges of a schema that is dropped.
  void forgetSchema(String schema) {
    if (access().says(schema)) {
      plan.change(Access.removeSchema(schema));
    }
    for (Access.Default said : access().defaults()) {
      if (said.schema().equals(schema)) {
        plan.change(Access.remove(said));
      }
    }
  }

  /// Moves the rights and default privileges of a schema to its new name.
  void renameSchema(String from, String to) {
    plan.change(Access.putSchema(to, access().schema(from)));
    for (Access.Default said : access().defaults()) {
      if (said.schema().equals(from)) {
        plan.change(Access.put(new Access.Default(said.role(), said.kind(), to, said.granted())));
      }
    }
    forgetSchema(from);
  }
}
