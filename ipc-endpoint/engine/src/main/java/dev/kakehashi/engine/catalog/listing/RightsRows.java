package dev.kakehashi.engine.catalog.listing;

import dev.kakehashi.engine.catalog.Access;
import dev.kakehashi.engine.catalog.CatalogNames;
import dev.kakehashi.engine.catalog.CatalogSnapshot;
import dev.kakehashi.engine.catalog.Column;
import dev.kakehashi.engine.catalog.DeployedApplication;
import dev.kakehashi.engine.catalog.Queue;
import dev.kakehashi.engine.catalog.Sequence;
import dev.kakehashi.engine.catalog.Table;
import dev.kakehashi.engine.rights.Acl;
import dev.kakehashi.engine.rights.AclItem;
import dev.kakehashi.engine.rights.Membership;
import dev.kakehashi.engine.rights.ObjectKind;
import dev.kakehashi.engine.rights.Privilege;
import dev.kakehashi.engine.rights.Rights;
import dev.kakehashi.engine.rights.Role;
import dev.kakehashi.engine.rights.RoleSet;
import java.util.ArrayList;
import java.util.List;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/// Rows of `kakehashi_catalog.roles`, `role_members` and `privileges`. Everybody sees them, as in PostgreSQL; of a password they say
/// whether there is one.
final class RightsRows {
  private RightsRows() {}

  /// role_name, is_superuser, inherits, can_create_roles, can_create_databases, can_log_in, has_password, valid_until, comment.
  static List<@Nullable Object[]> roles(CatalogSnapshot catalog) {
    List<@Nullable Object[]> rows = new ArrayList<>();
    for (Role role : catalog.roles().all()) {
      String verifier = role.verifier();
      rows.add(
          new @Nullable Object[] {
            role.name(),
            role.superuser(),
            role.inherits(),
            role.createsRoles(),
            role.createsDatabases(),
            role.logsIn(),
            verifier != null && !verifier.equals(Role.NO_PASSWORD),
            role.validUntil(),
            role.comment()
          });
    }
    return rows;
  }

  /// role_name, member_name, grantor, admin_option.
  static List<@Nullable Object[]> members(CatalogSnapshot catalog) {
    RoleSet roles = catalog.roles();
    List<@Nullable Object[]> rows = new ArrayList<>();
    for (Membership each : roles.memberships()) {
      rows.add(
          new @Nullable Object[] {
            roles.name(each.role()),
            roles.name(each.member()),
            name(each.grantor(), roles),
            each.admin()
          });
    }
    return rows;
  }

  private static @Nullable String name(long role, RoleSet roles) {
    Role found = roles.role(role);
    return found == null ? null : found.name();
  }

  /// object_type, object_schema, object_name, column_name, owner, grantor, grantee, privilege, is_grantable: what was granted, and what
  /// owners have.
  static List<@Nullable Object[]> privileges(CatalogNames names) {
    CatalogSnapshot catalog = names.catalog();
    Rows rows = new Rows(catalog.roles());
    if (names.schema() == null) {
      rows.add(
          "database",
          null,
          Access.DATABASE,
          null,
          ObjectKind.DATABASE,
          catalog.access().database());
      for (String location : catalog.access().locations()) {
        rows.add(
            "location",
            null,
            location,
            null,
            ObjectKind.LOCATION,
            catalog.access().location(location));
      }
    }
    for (String schema : names.schemas()) {
      rows.add("schema", schema, schema, null, ObjectKind.SCHEMA, catalog.access().schema(schema));
    }
    for (Table table : names.tables()) {
      if (!table.isSystem()) {
        rows.add("table", table);
      }
    }
    names.views().forEach(view -> rows.add("view", view.form()));
    for (Sequence each : names.sequences()) {
      rows.add("sequence", each.schema(), each.name(), null, ObjectKind.SEQUENCE, each.rights());
    }
    for (Queue each : names.queues()) {
      rows.add("queue", each.schema(), each.name(), null, ObjectKind.QUEUE, each.rights());
    }
    for (DeployedApplication each : names.applications()) {
      rows.add(
          "application", each.schema(), each.name(), null, ObjectKind.APPLICATION, each.rights());
      for (String member : new TreeSet<>(each.granted().keySet())) {
        boolean function =
            each.contents().functions().stream().anyMatch(of -> of.name().equals(member));
        rows.add(
            function ? "function" : "procedure",
            each.schema(),
            member,
            null,
            ObjectKind.FUNCTION,
            each.rightsOf(member));
      }
    }
    return rows.rows;
  }

  /// Rows that are being made.
  private static final class Rows {
    private final RoleSet roles;
    final List<@Nullable Object[]> rows = new ArrayList<>();

    Rows(RoleSet roles) {
      this.roles = roles;
    }

    void add(String type, Table form) {
      Rights rights = form.rights();
      add(type, form.schema(), form.name(), null, ObjectKind.TABLE, rights);
      for (Column column : form.columns()) {
        add(type, form.schema(), form.name(), column.name(), rights.owner(), column.acl());
      }
    }

    void add(
        String type,
        @Nullable String schema,
        String object,
        @Nullable String column,
        ObjectKind kind,
        Rights rights) {
      add(type, schema, object, column, rights.owner(), rights.effective(kind));
    }

    private void add(
        String type,
        @Nullable String schema,
        String object,
        @Nullable String column,
        long owner,
        Acl acl) {
      for (AclItem item : acl.items()) {
        for (Privilege privilege : Privilege.of(item.privileges())) {
          rows.add(
              new @Nullable Object[] {
                type,
                schema,
                object,
                column,
                name(owner, roles),
                name(item.grantor(), roles),
                item.grantee() == Acl.PUBLIC ? "PUBLIC" : name(item.grantee(), roles),
                privilege.name(),
                item.grantee() == owner || (item.grantable() & privilege.bit()) != 0
              });
        }
      }
    }
  }
}
