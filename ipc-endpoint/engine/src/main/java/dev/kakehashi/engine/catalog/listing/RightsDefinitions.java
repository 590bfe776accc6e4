package dev.kakehashi.engine.catalog.listing;

import dev.kakehashi.engine.catalog.Access;
import dev.kakehashi.engine.catalog.CatalogSnapshot;
import dev.kakehashi.engine.catalog.Column;
import dev.kakehashi.engine.catalog.DeployedApplication;
import dev.kakehashi.engine.catalog.Queue;
import dev.kakehashi.engine.catalog.Sequence;
import dev.kakehashi.engine.catalog.SystemTables;
import dev.kakehashi.engine.catalog.Table;
import dev.kakehashi.engine.rights.Acl;
import dev.kakehashi.engine.rights.AclItem;
import dev.kakehashi.engine.rights.Membership;
import dev.kakehashi.engine.rights.ObjectKind;
import dev.kakehashi.engine.rights.Privilege;
import dev.kakehashi.engine.rights.Rights;
import dev.kakehashi.engine.rights.Role;
import dev.kakehashi.engine.rights.RoleSet;
import dev.kakehashi.engine.type.text.Quoting;
import dev.kakehashi.valuetext.time.DateTimeFormat;
import dev.kakehashi.valuetext.time.Zone;
import java.util.ArrayList;
import java.util.List;
import java.util.TreeSet;
import java.util.stream.Collectors;

/// Statements that make roles and rights again, for a superuser to run: roles and memberships before the objects, owners and grants after
/// them.
///
/// The role of the endpoint's OS user is not made: its objects belong to the OS user of the endpoint that runs the statements.
final class RightsDefinitions {
  private final CatalogSnapshot catalog;
  private final RoleSet roles;

  /// Whether the verifiers of passwords are to be there.
  private final boolean secrets;

  private final Sink sink;

  /// Takes one statement.
  interface Sink {
    void add(String type, String schema, String name, String definition);
  }

  RightsDefinitions(CatalogSnapshot catalog, boolean secrets, Sink sink) {
    this.catalog = catalog;
    this.roles = catalog.roles();
    this.secrets = secrets;
    this.sink = sink;
  }

  // ---- before the objects ----

  void addRoles() {
    if (!roles.isUsed()) {
      return;
    }
    List<Role> made =
        roles.all().stream()
            .filter(role -> !RoleSet.isPredefined(role.id()) && role.id() != RoleSet.SUPERUSER)
            .toList();
    for (Role role : made) {
      sink.add("role", "", role.name(), "CREATE ROLE " + Quoting.identifier(role.name()));
      sink.add("role", "", role.name(), attributes(role));
      if (role.comment() != null) {
        sink.add(
            "comment",
            "",
            role.name(),
            "COMMENT ON ROLE "
                + Quoting.identifier(role.name())
                + " IS "
                + Quoting.literal(role.comment()));
      }
    }
    for (Membership each : roles.memberships()) {
      if (!RoleSet.isPredefined(each.role()) || !RoleSet.isPredefined(each.member())) {
        sink.add(
            "membership",
            "",
            roles.name(each.role()),
            "GRANT %s TO %s%s%s"
                .formatted(
                    role(each.role()),
                    role(each.member()),
                    each.admin() ? " WITH ADMIN OPTION" : "",
                    roles.role(each.grantor()) == null || each.grantor() == RoleSet.SUPERUSER
                        ? ""
                        : " GRANTED BY " + role(each.grantor())));
      }
    }
  }

  private String attributes(Role role) {
    StringBuilder text = new StringBuilder("ALTER ROLE ").append(Quoting.identifier(role.name()));
    text.append(" WITH ")
        .append(is(role.superuser(), "SUPERUSER"))
        .append(is(role.inherits(), "INHERIT"))
        .append(is(role.createsRoles(), "CREATEROLE"))
        .append(is(role.createsDatabases(), "CREATEDB"))
        .append(role.logsIn() ? "LOGIN" : "NOLOGIN");
    String verifier = role.verifier();
    if (secrets && verifier != null) {
      text.append(" PASSWORD ")
          .append(verifier.equals(Role.NO_PASSWORD) ? "NULL" : Quoting.literal(verifier));
    }
    Long until = role.validUntil();
    if (until != null) {
      text.append(" VALID UNTIL ")
          .append(Quoting.literal(DateTimeFormat.timestamptz(until, Zone.UTC)));
    }
    return text.toString();
  }

  private static String is(boolean value, String word) {
    return (value ? "" : "NO") + word + " ";
  }

  private String role(long id) {
    return id == Acl.PUBLIC ? "PUBLIC" : Quoting.identifier(roles.name(id));
  }

  // ---- after them ----

  void addRights() {
    addDefaults();
    owner("DATABASE", "", Access.DATABASE, Access.DATABASE, catalog.access().database());
    grants(
        "DATABASE",
        "",
        Access.DATABASE,
        Access.DATABASE,
        ObjectKind.DATABASE,
        catalog.access().database());
    for (String location : catalog.access().locations()) {
      grants(
          "LOCATION",
          "",
          location,
          Quoting.identifier(location),
          ObjectKind.LOCATION,
          catalog.access().location(location));
    }
    for (String schema : catalog.schemas()) {
      if (!SystemTables.isSystemSchema(schema)) {
        addSchema(schema);
      }
    }
    List<Table> tables = catalog.tables().stream().filter(table -> !table.isSystem()).toList();
    tables.forEach(
        table -> owner("TABLE", table.schema(), table.name(), name(table), table.rights()));
    catalog
        .views()
        .forEach(
            view -> owner("VIEW", view.schema(), view.name(), name(view.form()), view.rights()));
    for (Sequence each : catalog.sequences()) {
      if (!isOwned(each, tables)) {
        owner("SEQUENCE", each.schema(), each.name(), name(each), each.rights());
      }
    }
    catalog
        .queueObjects()
        .forEach(each -> owner("QUEUE", each.schema(), each.name(), name(each), each.rights()));
    for (DeployedApplication each : catalog.applications().all()) {
      owner("APPLICATION", each.schema(), each.name(), name(each, each.name()), each.rights());
    }
    tables.forEach(table -> addTable(table));
    catalog.views().forEach(view -> addTable(view.form()));
    for (Sequence each : catalog.sequences()) {
      grants(
          "SEQUENCE", each.schema(), each.name(), name(each), ObjectKind.SEQUENCE, each.rights());
    }
    for (Queue each : catalog.queueObjects()) {
      grants("QUEUE", each.schema(), each.name(), name(each), ObjectKind.QUEUE, each.rights());
    }
    catalog.applications().all().forEach(this::addApplication);
  }

  /// On the whole first, since that counts for the members, too; then what differs.
  private void addApplication(DeployedApplication each) {
    ObjectKind kind = ObjectKind.APPLICATION;
    grants("APPLICATION", each.schema(), each.name(), name(each, each.name()), kind, each.rights());
    for (String member : new TreeSet<>(each.granted().keySet())) {
      boolean function =
          each.contents().functions().stream().anyMatch(of -> of.name().equals(member));
      String noun = function ? "FUNCTION" : "PROCEDURE";
      String quoted = name(each, member);
      for (AclItem item : each.rights().effective(kind).items()) {
        if (item.grantee() != Acl.PUBLIC && item.grantee() != each.rights().owner()) {
          sink.add(
              "grant",
              each.schema(),
              member,
              "REVOKE ALL ON %s %s FROM %s CASCADE".formatted(noun, quoted, role(item.grantee())));
        }
      }
      grants(noun, each.schema(), member, quoted, ObjectKind.FUNCTION, each.rightsOf(member));
    }
  }

  private static String name(DeployedApplication application, String member) {
    return Quoting.identifier(application.schema()) + "." + Quoting.identifier(member);
  }

  private static boolean isOwned(Sequence sequence, List<Table> tables) {
    return tables.stream()
        .anyMatch(table -> table.columns().stream().anyMatch(c -> c.owns(sequence.sequenceId())));
  }

  private void addSchema(String schema) {
    String quoted = Quoting.identifier(schema);
    Rights rights = catalog.access().schema(schema);
    owner("SCHEMA", schema, schema, quoted, rights);
    boolean initial =
        schema.equals(CatalogSnapshot.DEFAULT_SCHEMA) && !catalog.access().says(schema);
    if (initial) {
      return;
    }
    if (schema.equals(CatalogSnapshot.DEFAULT_SCHEMA)) {
      sink.add("grant", schema, schema, "REVOKE ALL ON SCHEMA " + quoted + " FROM PUBLIC");
    }
    grants("SCHEMA", schema, schema, quoted, ObjectKind.SCHEMA, rights);
  }

  private void addTable(Table form) {
    grants("TABLE", form.schema(), form.name(), name(form), ObjectKind.TABLE, form.rights());
    for (Column column : form.columns()) {
      for (AclItem item : column.acl().items()) {
        grant(
            form.schema(),
            form.name(),
            "TABLE " + name(form),
            item,
            ObjectKind.COLUMN,
            form.rights().owner(),
            " (" + Quoting.identifier(column.name()) + ")");
      }
    }
  }

  private void owner(String noun, String schema, String name, String quoted, Rights rights) {
    if (rights.owner() != RoleSet.SUPERUSER) {
      sink.add(
          "owner",
          schema,
          name,
          "ALTER %s %s OWNER TO %s".formatted(noun, quoted, role(rights.owner())));
    }
  }

  private void grants(
      String noun, String schema, String name, String quoted, ObjectKind kind, Rights rights) {
    Acl acl = rights.acl();
    if (acl == null) {
      return;
    }
    String object = noun + " " + quoted;
    AclItem own = Acl.initial(kind, rights.owner()).items().getLast();
    if (kind.ofEverybody() != 0) {
      sink.add("grant", schema, name, "REVOKE ALL ON " + object + " FROM PUBLIC");
    }
    if (!acl.items().contains(own)) {
      sink.add("grant", schema, name, "REVOKE ALL ON " + object + " FROM " + role(rights.owner()));
    }
    for (AclItem item : acl.items()) {
      if (!item.equals(own)) {
        grant(schema, name, object, item, kind, rights.owner(), "");
      }
    }
  }

  /// Adds the grants of one role to another, in the name of the first.
  ///
  /// @param columns behind each privilege
  private void grant(
      String schema,
      String name,
      String object,
      AclItem item,
      ObjectKind kind,
      long owner,
      String columns) {
    boolean other = item.grantor() != owner;
    if (other) {
      sink.add("grant", schema, name, "SET ROLE " + role(item.grantor()));
    }
    for (String each : statements(item, kind, columns, object)) {
      sink.add("grant", schema, name, each);
    }
    if (other) {
      sink.add("grant", schema, name, "RESET ROLE");
    }
  }

  private List<String> statements(AclItem item, ObjectKind kind, String columns, String object) {
    List<String> statements = new ArrayList<>();
    int plain = item.privileges() & ~item.grantable();
    if (plain != 0) {
      statements.add(
          "GRANT %s ON %s TO %s"
              .formatted(words(plain, kind, columns), object, role(item.grantee())));
    }
    if (item.grantable() != 0) {
      statements.add(
          "GRANT %s ON %s TO %s WITH GRANT OPTION"
              .formatted(words(item.grantable(), kind, columns), object, role(item.grantee())));
    }
    return statements;
  }

  private static String words(int privileges, ObjectKind kind, String columns) {
    return privileges == kind.all() && columns.isEmpty()
        ? "ALL"
        : Privilege.of(privileges).stream()
            .map(privilege -> privilege + columns)
            .collect(Collectors.joining(", "));
  }

  private void addDefaults() {
    for (Access.Default said : catalog.access().defaults()) {
      String begin =
          "ALTER DEFAULT PRIVILEGES"
              + (roles.isUsed() ? " FOR ROLE " + role(said.role()) : "")
              + (said.schema().isEmpty() ? "" : " IN SCHEMA " + Quoting.identifier(said.schema()))
              + " ";
      String objects = said.kind().name() + "S";
      AclItem own = Acl.initial(said.kind(), said.role()).items().getLast();
      boolean anywhere = said.schema().isEmpty();
      if (anywhere && !said.granted().items().contains(own)) {
        sink.add(
            "default privileges",
            said.schema(),
            roles.name(said.role()),
            begin + "REVOKE ALL ON " + objects + " FROM " + role(said.role()));
      }
      for (AclItem item : said.granted().items()) {
        if (!anywhere || !item.equals(own)) {
          for (String each : statements(item, said.kind(), "", objects)) {
            sink.add("default privileges", said.schema(), roles.name(said.role()), begin + each);
          }
        }
      }
    }
  }

  private static String name(Table form) {
    return Quoting.identifier(form.schema()) + "." + Quoting.identifier(form.name());
  }

  private static String name(Queue queue) {
    return Quoting.identifier(queue.schema()) + "." + Quoting.identifier(queue.name());
  }

  private static String name(Sequence sequence) {
    return Quoting.identifier(sequence.schema()) + "." + Quoting.identifier(sequence.name());
  }
}
