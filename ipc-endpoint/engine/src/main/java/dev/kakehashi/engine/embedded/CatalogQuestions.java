package dev.kakehashi.engine.embedded;

import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.engine.catalog.Access;
import dev.kakehashi.engine.catalog.ApplicationSet;
import dev.kakehashi.engine.catalog.CatalogSnapshot;
import dev.kakehashi.engine.catalog.Column;
import dev.kakehashi.engine.catalog.DeployedApplication;
import dev.kakehashi.engine.catalog.Permissions;
import dev.kakehashi.engine.catalog.Queue;
import dev.kakehashi.engine.catalog.Sequence;
import dev.kakehashi.engine.catalog.Table;
import dev.kakehashi.engine.catalog.View;
import dev.kakehashi.engine.rights.Acl;
import dev.kakehashi.engine.rights.ObjectKind;
import dev.kakehashi.engine.rights.Privilege;
import dev.kakehashi.engine.rights.Rights;
import dev.kakehashi.engine.rights.RightsQuestions;
import dev.kakehashi.engine.rights.Role;
import dev.kakehashi.engine.rights.RoleSet;
import dev.kakehashi.engine.sql.lexer.Lexer;
import dev.kakehashi.engine.sql.lexer.QualifiedName;
import dev.kakehashi.engine.sql.lexer.TokenReader;
import dev.kakehashi.protocol.ErrorCode;
import java.util.Collection;
import java.util.List;
import java.util.Objects;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/// Answers what functions ask about rights, from one version of the catalogue. Immutable.
///
/// @param role number of the role whose rights count
/// @param locations names of the locations that the settings have
record CatalogQuestions(CatalogSnapshot catalog, long role, Supplier<Collection<String>> locations)
    implements RightsQuestions {
  private static final String EVERYBODY = "public";

  @Override
  public boolean has(
      About kind,
      @Nullable String roleName,
      String object,
      @Nullable String column,
      Supplier<List<Asked>> privileges) {
    long asked = roleName == null ? role : number(roleName, true);
    Permissions permissions = new Permissions(catalog, asked);
    return switch (kind) {
      case SCHEMA -> {
        if (!catalog.hasSchema(object)) {
          throw new EngineException(
              ErrorCode.UNDEFINED_SCHEMA, "schema \"" + object + "\" does not exist");
        }
        yield any(
            privileges.get(),
            permissions.onSchema(object),
            permissions.grantable(ObjectKind.SCHEMA, catalog.access().schema(object)));
      }
      case DATABASE -> {
        if (!object.equals(Access.DATABASE)) {
          throw new EngineException(
              ErrorCode.UNDEFINED_OBJECT, "database \"" + object + "\" does not exist");
        }
        yield any(
            privileges.get(),
            permissions.onDatabase(),
            permissions.grantable(ObjectKind.DATABASE, catalog.access().database()));
      }
      case LOCATION -> {
        if (!locations.get().contains(object)) {
          throw new EngineException(
              ErrorCode.UNDEFINED_OBJECT, "location \"" + object + "\" does not exist");
        }
        yield any(
            privileges.get(),
            permissions.onLocation(object),
            permissions.grantable(ObjectKind.LOCATION, catalog.access().location(object)));
      }
      default -> onRelation(kind, permissions, object, column, privileges);
    };
  }

  private boolean onRelation(
      About kind,
      Permissions permissions,
      String object,
      @Nullable String column,
      Supplier<List<Asked>> asked) {
    QualifiedName name = name(object);
    String schema = Objects.requireNonNullElse(name.schema(), CatalogSnapshot.DEFAULT_SCHEMA);
    if (name.schema() != null && !catalog.hasSchema(schema)) {
      throw new EngineException(
          ErrorCode.UNDEFINED_SCHEMA, "schema \"" + schema + "\" does not exist");
    }
    if (name.schema() != null) {
      new Permissions(catalog, role).requireOnSchema(schema, Privilege.USAGE);
    }
    if (kind == About.FUNCTION) {
      Rights rights = rights(schema, name.name());
      return any(
          asked.get(),
          permissions.on(ObjectKind.FUNCTION, rights),
          permissions.grantable(ObjectKind.FUNCTION, rights));
    }
    Queue queue = catalog.queue(schema, name.name());
    if (kind == About.QUEUE && queue != null) {
      return any(
          asked.get(),
          permissions.on(ObjectKind.QUEUE, queue.rights()),
          permissions.grantable(ObjectKind.QUEUE, queue.rights()));
    }
    if (kind == About.QUEUE || queue != null) {
      throw queue == null
          ? new EngineException(
              ErrorCode.UNDEFINED_OBJECT, "queue \"" + object + "\" does not exist")
          : new EngineException(ErrorCode.WRONG_OBJECT_TYPE, "\"" + name.name() + "\" is a queue");
    }
    Sequence sequence = catalog.sequence(schema, name.name());
    Table table = catalog.table(schema, name.name());
    View view = catalog.view(schema, name.name());
    if (sequence == null && table == null && view == null) {
      throw new EngineException(
          ErrorCode.UNDEFINED_TABLE, "relation \"" + object + "\" does not exist");
    }
    if (sequence != null) {
      List<Asked> privileges = asked.get();
      return kind != About.COLUMN
          && any(
              privileges,
              permissions.on(ObjectKind.SEQUENCE, sequence.rights()),
              permissions.grantable(ObjectKind.SEQUENCE, sequence.rights()));
    }
    if (kind == About.SEQUENCE) {
      throw new EngineException(
          ErrorCode.WRONG_OBJECT_TYPE, "\"" + name.name() + "\" is not a sequence");
    }
    Table form = table != null ? table : Objects.requireNonNull(view).form();
    int may = form.isSystem() ? readable() : permissions.on(ObjectKind.TABLE, form.rights());
    int grantable = permissions.grantable(ObjectKind.TABLE, form.rights());
    Column of = kind == About.COLUMN ? column(form, Objects.requireNonNull(column)) : null;
    List<Asked> privileges = asked.get();
    if (kind == About.TABLE || any(privileges, may, grantable)) {
      return any(privileges, may, grantable);
    }
    if (of != null) {
      return any(privileges, permissions.on(of), permissions.grantable(of));
    }
    return form.columns().stream()
        .anyMatch(each -> any(privileges, permissions.on(each), permissions.grantable(each)));
  }

  private Rights rights(String schema, String member) {
    ApplicationSet all = catalog.applications();
    for (DeployedApplication.OfFunction each : all.functions(schema, member)) {
      return each.application().rightsOf(member);
    }
    for (DeployedApplication.OfProcedure each : all.procedures(schema, member)) {
      return each.application().rightsOf(member);
    }
    throw new EngineException(
        ErrorCode.UNDEFINED_FUNCTION,
        "function \"" + member + "\" of an application does not exist");
  }

  private static int readable() {
    return Privilege.SELECT.bit();
  }

  private static Column column(Table form, String column) {
    int position = form.columnIndex(column);
    if (position < 0) {
      throw new EngineException(
          ErrorCode.UNDEFINED_COLUMN,
          "column \"%s\" of relation \"%s\" does not exist".formatted(column, form.name()));
    }
    return form.columns().get(position);
  }

  private static boolean any(List<Asked> privileges, int has, int grantable) {
    return privileges.stream()
        .anyMatch(each -> ((each.grantable() ? grantable : has) & each.privilege().bit()) != 0);
  }

  private static QualifiedName name(String text) {
    TokenReader in = new TokenReader(text, Lexer.tokenize(text), 0);
    QualifiedName name = in.name();
    in.expectEnd();
    return name;
  }

  private long number(String name, boolean orEverybody) {
    if (orEverybody && name.equals(EVERYBODY)) {
      return Acl.PUBLIC;
    }
    Role found = catalog.roles().role(name);
    if (found == null) {
      throw new EngineException(ErrorCode.UNDEFINED_OBJECT, "role \"" + name + "\" does not exist");
    }
    return found.id();
  }

  @Override
  public boolean hasRole(
      @Nullable String member, String roleName, Supplier<List<Membership>> asked) {
    long who = member == null ? role : number(member, false);
    long of = number(roleName, false);
    RoleSet roles = catalog.roles();
    return asked.get().stream()
        .anyMatch(each ->
            switch (each) {
              case MEMBER -> roles.isMemberOf(who, of);
              case USAGE -> roles.hasRightsOf(who, of);
              case ADMIN -> roles.isAdminOf(who, of);
            });
  }
}
