package dev.kakehashi.engine.catalog;

import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.engine.rights.Acl;
import dev.kakehashi.engine.rights.ObjectKind;
import dev.kakehashi.engine.rights.Privilege;
import dev.kakehashi.engine.rights.Rights;
import dev.kakehashi.engine.rights.RoleSet;
import dev.kakehashi.protocol.ErrorCode;

/// Permissions of a role in one version of the catalogue. Immutable.
///
/// Superusers may do everything, and so may everybody as long as there are no roles. Members of `pg_read_all_data` may read, those of
/// `pg_write_all_data` change rows of whatever there is; those of `pg_read_server_files` and `pg_write_server_files` may read and write
/// files in every location.
public final class Permissions {
  private static final int WRITING =
      Privilege.set(Privilege.INSERT, Privilege.UPDATE, Privilege.DELETE);

  private final CatalogSnapshot catalog;
  private final RoleSet roles;
  private final long role;
  private final boolean superuser;

  /// @param role number of the role, or [RoleSet#NOBODY]
  public Permissions(CatalogSnapshot catalog, long role) {
    this.catalog = catalog;
    this.roles = catalog.roles();
    this.role = role;
    this.superuser = roles.isSuperuser(role);
  }

  public long role() {
    return role;
  }

  public boolean isSuperuser() {
    return superuser;
  }

  /// Whether it has the rights of another role.
  public boolean has(long other) {
    return superuser || roles.hasRightsOf(role, other);
  }

  /// Whether the object is its own.
  public boolean owns(Rights rights) {
    return has(rights.owner());
  }

  // ---- privileges ----

  /// Privileges of the role on an object as a whole.
  ///
  /// @return set of privileges
  public int on(ObjectKind kind, Rights rights) {
    return superuser ? kind.all() : granted(rights.effective(kind)) | implied(kind);
  }

  /// Privileges of the role on a column, besides its privileges on the table.
  public int on(Column column) {
    return superuser ? ObjectKind.COLUMN.all() : granted(column.acl());
  }

  public int onSchema(String schema) {
    return on(ObjectKind.SCHEMA, catalog.access().schema(schema));
  }

  public int onDatabase() {
    return on(ObjectKind.DATABASE, catalog.access().database());
  }

  /// Privileges of the role on a location, if the settings have it.
  public int onLocation(String location) {
    return on(ObjectKind.LOCATION, catalog.access().location(location));
  }

  /// Privileges on an object that the role may grant to others.
  public int grantable(ObjectKind kind, Rights rights) {
    return owns(rights)
        ? kind.all()
        : rights.effective(kind).grantable(each -> roles.hasRightsOf(role, each));
  }

  /// The same of a column.
  public int grantable(Column column) {
    return column.acl().grantable(each -> roles.hasRightsOf(role, each));
  }

  private int granted(Acl acl) {
    return acl.privileges(each -> roles.hasRightsOf(role, each));
  }

  private int implied(ObjectKind kind) {
    int implied = 0;
    if (kind == ObjectKind.LOCATION) {
      implied |= roles.hasRightsOf(role, RoleSet.READ_SERVER_FILES) ? Privilege.READ.bit() : 0;
      implied |= roles.hasRightsOf(role, RoleSet.WRITE_SERVER_FILES) ? Privilege.WRITE.bit() : 0;
      return implied;
    }
    if (kind != ObjectKind.DATABASE && roles.hasRightsOf(role, RoleSet.READ_ALL_DATA)) {
      implied |=
          kind == ObjectKind.SCHEMA ? Privilege.USAGE.bit() : kind.all() & Privilege.SELECT.bit();
    }
    if (kind != ObjectKind.DATABASE && roles.hasRightsOf(role, RoleSet.WRITE_ALL_DATA)) {
      implied |= kind == ObjectKind.SCHEMA ? Privilege.USAGE.bit() : kind.all() & WRITING;
    }
    return implied;
  }

  /// Whether it may do something with at least one column of a table, or with all of them.
  ///
  /// @param form the table, or the form of the view
  public boolean onColumns(Table form, Privilege privilege, boolean all) {
    boolean any = false;
    for (Column column : form.columns()) {
      if (!column.hidden()) {
        boolean may = (on(column) & privilege.bit()) != 0;
        if (all && !may) {
          return false;
        }
        any |= may;
      }
    }
    return any;
  }

  // ---- refusals ----

  /// @throws EngineException INSUFFICIENT_PRIVILEGE unless it is the owner
  public void requireOwner(Rights rights, String noun, String name) {
    if (!owns(rights)) {
      throw new EngineException(
          ErrorCode.INSUFFICIENT_PRIVILEGE, "must be owner of " + noun + " " + name);
    }
  }

  /// @throws EngineException INSUFFICIENT_PRIVILEGE unless it may do what is said in the schema
  public void requireOnSchema(String schema, Privilege privilege) {
    if ((onSchema(schema) & privilege.bit()) == 0) {
      throw denied("schema", schema);
    }
  }

  /// As PostgreSQL says that a privilege is missing.
  public static EngineException denied(String noun, String name) {
    return new EngineException(
        ErrorCode.INSUFFICIENT_PRIVILEGE, "permission denied for " + noun + " " + name);
  }
}
