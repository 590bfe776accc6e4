package dev.kakehashi.engine.catalog;

import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.engine.rights.ObjectKind;
import dev.kakehashi.engine.rights.Privilege;
import dev.kakehashi.engine.rights.RoleSet;
import dev.kakehashi.protocol.ErrorCode;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// Privileges that are needed to run a plan. Immutable, and of no user: the plan is everybody's.
///
/// @param schemas of the names in the statement
/// @param relations tables and views, in the order in which they are named
/// @param sequences of calls of nextval, currval and setval
/// @param members functions and procedures of applications
/// @param setting name of a setting that is shown, and not to everybody; null: none
public record Needs(
    List<Schema> schemas,
    List<Relation> relations,
    List<SequenceUse> sequences,
    List<MemberUse> members,
    @Nullable String setting) {
  public static final Needs NONE = new Needs(List.of(), List.of(), List.of(), List.of(), null);

  /// Needs of a statement that shows a setting which tells of the machine.
  public static Needs ofSetting(String name) {
    return new Needs(List.of(), List.of(), List.of(), List.of(), name);
  }

  /// A schema whose objects are named.
  ///
  /// @param name of the schema
  /// @param implicit the name of the relation, where the statement does not name the schema; null: it does
  /// @param position of the name in the statement, from 1; 0: not known
  public record Schema(String name, @Nullable String implicit, int position) {}

  /// A table or view.
  ///
  /// @param id its number
  /// @param asRole whose rights count: the owner's of the view that names it; null: those of who runs the statement
  /// @param required set of privileges, of those that columns have the ones that are needed at all
  /// @param changing whether UPDATE or DELETE must be there
  /// @param read columns that are read, see [Privilege#SELECT]; -1: the row as a whole
  /// @param inserted columns that INSERT gives
  /// @param updated columns that UPDATE sets
  public record Relation(
      long id,
      @Nullable Long asRole,
      int required,
      boolean changing,
      int[] read,
      int[] inserted,
      int[] updated) {}

  /// A sequence.
  ///
  /// @param anyOf set of privileges of which one must be there
  public record SequenceUse(long id, int anyOf) {}

  /// A call of what an application offers, for which who runs the statement needs EXECUTE, as in PostgreSQL also within a view.
  ///
  /// @param kind FUNCTION or PROCEDURE
  /// @param name of it
  public record MemberUse(long applicationId, ObjectKind kind, String name) {
    /// @throws EngineException INSUFFICIENT_PRIVILEGE
    void check(CatalogSnapshot catalog, Permissions role) {
      DeployedApplication application = catalog.applications().get(applicationId);
      if (application != null && role.on(kind, application.rightsOf(name)) == 0) {
        throw Permissions.denied(kind.noun(), name);
      }
    }
  }

  /// Whether the role may run the plan.
  ///
  /// @param catalog the version that the plan is of
  /// @throws EngineException INSUFFICIENT_PRIVILEGE, UNDEFINED_TABLE where a schema is not named and cannot be looked into
  public void check(CatalogSnapshot catalog, long role) {
    RoleSet roles = catalog.roles();
    if (!roles.isUsed()) {
      return;
    }
    checkSchemas(catalog, role);
    Permissions own = new Permissions(catalog, role);
    for (Relation relation : relations) {
      Long other = relation.asRole;
      check(relation, catalog, other == null ? own : new Permissions(catalog, other));
    }
    for (SequenceUse use : sequences) {
      Sequence sequence = catalog.sequence(use.id);
      if (sequence != null && (own.on(ObjectKind.SEQUENCE, sequence.rights()) & use.anyOf) == 0) {
        throw Permissions.denied("sequence", sequence.name());
      }
    }
    members.forEach(use -> use.check(catalog, own));
    if (setting != null && !own.has(RoleSet.READ_ALL_SETTINGS)) {
      throw new EngineException(
          ErrorCode.INSUFFICIENT_PRIVILEGE,
          "must be superuser or have privileges of pg_read_all_settings to examine \"%s\""
              .formatted(setting));
    }
  }

  /// Whether the role may look into the schemas; asked also where the statement is wrong, so that it learns nothing of what is in them.
  public void checkSchemas(CatalogSnapshot catalog, long role) {
    if (!catalog.roles().isUsed() || catalog.roles().isSuperuser(role)) {
      return;
    }
    Permissions own = new Permissions(catalog, role);
    for (Schema schema : schemas) {
      if (!catalog.hasSchema(schema.name)
          || (own.onSchema(schema.name) & Privilege.USAGE.bit()) != 0) {
        continue;
      }
      String implicit = schema.implicit;
      EngineException refused =
          implicit == null
              ? Permissions.denied("schema", schema.name)
              : new EngineException(
                  ErrorCode.UNDEFINED_TABLE, "relation \"" + implicit + "\" does not exist");
      throw schema.position > 0 ? refused.withPosition(schema.position) : refused;
    }
  }

  private static void check(Relation need, CatalogSnapshot catalog, Permissions role) {
    if (role.isSuperuser()) {
      return;
    }
    View view = catalog.view(need.id);
    Table form = view == null ? catalog.table(need.id) : view.form();
    if (form == null) {
      return; // it is gone, and so is the plan
    }
    int has = role.on(ObjectKind.TABLE, form.rights());
    int missing = need.required & ~has;
    boolean denied =
        isMissing(Privilege.SELECT, need.read, missing, form, role)
            || isMissing(Privilege.INSERT, need.inserted, missing, form, role)
            || isMissing(Privilege.UPDATE, need.updated, missing, form, role)
            || (missing & ~Privilege.set(Privilege.SELECT, Privilege.INSERT, Privilege.UPDATE)) != 0
            || (need.changing
                && (has & Privilege.set(Privilege.UPDATE, Privilege.DELETE)) == 0
                && !role.onColumns(form, Privilege.UPDATE, false));
    if (denied) {
      throw Permissions.denied(view == null ? "table" : "view", form.name());
    }
  }

  /// Whether a privilege that the table does not give is not given by its columns either.
  private static boolean isMissing(
      Privilege privilege, int[] columns, int missing, Table form, Permissions role) {
    if ((missing & privilege.bit()) == 0) {
      return false;
    }
    for (int column : columns) {
      boolean may =
          column < 0
              ? role.onColumns(form, privilege, true)
              : (role.on(form.columns().get(column)) & privilege.bit()) != 0;
      if (!may) {
        return true;
      }
    }
    return columns.length == 0 && !role.onColumns(form, privilege, false);
  }
}
