package dev.kakehashi.engine.ddl;

import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.engine.catalog.Access;
import dev.kakehashi.engine.catalog.CatalogSnapshot;
import dev.kakehashi.engine.rights.Membership;
import dev.kakehashi.engine.rights.Role;
import dev.kakehashi.engine.rights.RoleSet;
import dev.kakehashi.engine.sql.parser.RightsStatement;
import dev.kakehashi.engine.sql.parser.RightsStatement.RoleName;
import dev.kakehashi.engine.sql.parser.RightsStatement.RoleOptions;
import dev.kakehashi.protocol.ErrorCode;
import dev.kakehashi.protocol.authentication.ScramVerifier;
import dev.kakehashi.valuetext.time.Clock;
import dev.kakehashi.valuetext.time.DateTimeInput;
import java.util.List;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/// CREATE, ALTER and DROP ROLE, and who is a member of which, with PostgreSQL 15's rules.
final class RolePlanner {
  private static final String RESERVED_PREFIX = "pg_";
  private static final String SCRAM = "SCRAM-SHA-256$";

  private final DefinitionPlan plan;

  RolePlanner(DefinitionPlan plan) {
    this.plan = plan;
  }

  private RoleSet roles() {
    return plan.state().roles();
  }

  // ---- the first role ----

  /// Makes roles of those who could get in so far, before the first one is made: from then on rights count.
  ///
  /// The operator and who makes the first role are superusers, so that nobody is locked out; the others may log in and have no rights yet.
  void begin() {
    if (roles().isUsed()) {
      return;
    }
    Definer definer = plan.definer();
    plan.change(
        Access.put(
            new Role(
                RoleSet.SUPERUSER,
                definer.operator(),
                true,
                true,
                true,
                true,
                true,
                null,
                null,
                null,
                false)));
    TreeSet<String> names = new TreeSet<>(definer.users().get());
    names.add(definer.sessionName());
    for (String name : names) {
      if (canBeRole(name) && roles().role(name) == null) {
        boolean maker = name.equals(definer.sessionName());
        plan.change(
            Access.put(
                new Role(
                    plan.newObjectId(),
                    name,
                    maker,
                    true,
                    maker,
                    maker,
                    true,
                    null,
                    null,
                    null,
                    true)));
      }
    }
    // Entries of this form are refused by versions of the program that know no rights.
    CatalogSnapshot state = plan.state();
    state.tables().stream()
        .filter(table -> !table.isSystem())
        .forEach(table -> plan.change(CatalogSnapshot.put(table)));
    state.sequences().forEach(sequence -> plan.change(CatalogSnapshot.put(sequence)));
    state.views().forEach(view -> plan.change(CatalogSnapshot.put(view)));
    plan.become();
  }

  /// Users may have names that roles cannot have; they stay users.
  private static boolean canBeRole(String name) {
    return !name.isEmpty()
        && !name.startsWith(RESERVED_PREFIX)
        && !name.equals("public")
        && !name.equals("none");
  }

  // ---- roles ----

  void create(RightsStatement.CreateRole create) {
    begin();
    RoleOptions options = create.options();
    if (!plan.permissions().isSuperuser()) {
      if (Boolean.TRUE.equals(options.superuser())) {
        throw denied("must be superuser to create superusers");
      }
      requireCreates("permission denied to create role");
    }
    refuseReserved(create.name());
    Role present = roles().role(create.name());
    // One that no statement has made becomes what this one says.
    if (present != null && (!present.implied() || present.superuser())) {
      throw duplicate(create.name());
    }
    long id = present == null ? plan.newObjectId() : present.id();
    Role role = with(new Role(id, create.name()), options);
    plan.change(Access.put(role));
    for (String each : options.inRoles()) {
      addMember(plan.role(new RoleName(each, null)), role, false, plan.definer().role(), true);
    }
    for (RoleName member : options.members()) {
      addMember(role, plan.role(member), false, plan.definer().role(), false);
    }
    for (RoleName member : options.admins()) {
      addMember(role, plan.role(member), true, plan.definer().role(), false);
    }
  }

  private static EngineException duplicate(String name) {
    return new EngineException(ErrorCode.DUPLICATE_OBJECT, "role \"" + name + "\" already exists");
  }

  private static EngineException denied(String message) {
    return new EngineException(ErrorCode.INSUFFICIENT_PRIVILEGE, message);
  }

  private static void refuseReserved(String name) {
    if (name.startsWith(RESERVED_PREFIX)) {
      throw new EngineException(ErrorCode.RESERVED_NAME, "role name \"" + name + "\" is reserved")
          .withDetail("Role names starting with \"pg_\" are reserved.");
    }
  }

  private Role with(Role role, RoleOptions said) {
    Role next = role;
    next = said.superuser() == null ? next : next.withSuperuser(said.superuser());
    next = said.inherits() == null ? next : next.withInherits(said.inherits());
    next = said.createsRoles() == null ? next : next.withCreatesRoles(said.createsRoles());
    next =
        said.createsDatabases() == null ? next : next.withCreatesDatabases(said.createsDatabases());
    next = said.logsIn() == null ? next : next.withLogin(said.logsIn());
    String password = said.password();
    if (password != null) {
      next = next.withVerifier(verifier(password));
    }
    String until = said.validUntil();
    return until == null ? next : next.withValidUntil(moment(until));
  }

  /// The verifier of a password, which may be a verifier itself.
  private static String verifier(String password) {
    if (password.isEmpty()) {
      return Role.NO_PASSWORD;
    }
    if (password.startsWith(SCRAM)) {
      try {
        return ScramVerifier.parse(password).format();
      } catch (IllegalArgumentException noVerifier) {
        // As in PostgreSQL it is a password then.
        return ofText(password);
      }
    }
    if (password.matches("md5[0-9a-f]{32}")) {
      throw new EngineException(
          ErrorCode.FEATURE_NOT_SUPPORTED, "passwords encrypted with MD5 are not supported");
    }
    return ofText(password);
  }

  private static String ofText(String password) {
    return ScramVerifier.of(password.toCharArray()).format();
  }

  /// Microseconds since 2000-01-01 UTC; null for infinity.
  private @Nullable Long moment(String text) {
    long micros = DateTimeInput.timestamptz(text, plan.zone(), Clock::now);
    return micros == Long.MAX_VALUE ? null : Long.valueOf(micros);
  }

  void alter(RightsStatement.AlterRole alter) {
    Role role = plan.role(alter.role());
    refusePredefined(role);
    RoleOptions options = alter.options();
    if (role.superuser() || options.superuser() != null) {
      if (!plan.permissions().isSuperuser()) {
        throw denied("must be superuser to alter superuser roles or change superuser attribute");
      }
    } else if (!createsRoles()
        && !(options.isPasswordAlone()
            && options.password() != null
            && options.members().isEmpty()
            && role.id() == plan.definer().role())) {
      throw denied("permission denied");
    }
    Role next = with(role, options);
    if (role.id() == RoleSet.SUPERUSER && !(next.superuser() && next.logsIn())) {
      throw denied("the role of the endpoint's operating system user is a superuser")
          .withDetail("Who can read the data directory cannot be kept from what is in it.");
    }
    plan.change(Access.put(next));
    for (RoleName member : options.members()) {
      addMember(next, plan.role(member), false, plan.definer().role(), false);
    }
  }

  private static void refusePredefined(Role role) {
    if (RoleSet.isPredefined(role.id())) {
      throw new EngineException(
              ErrorCode.RESERVED_NAME, "role name \"" + role.name() + "\" is reserved")
          .withDetail("Role names starting with \"pg_\" are reserved.");
    }
  }

  void rename(RightsStatement.RenameRole rename) {
    Role role = plan.role(new RoleName(rename.from(), null));
    refusePredefined(role);
    if (role.id() == plan.definer().session()) {
      throw new EngineException(ErrorCode.FEATURE_NOT_SUPPORTED, "session user cannot be renamed");
    }
    if (role.id() == plan.definer().role()) {
      throw new EngineException(ErrorCode.FEATURE_NOT_SUPPORTED, "current user cannot be renamed");
    }
    refuseReserved(rename.to());
    if (roles().role(rename.to()) != null) {
      throw duplicate(rename.to());
    }
    if (role.superuser() && !plan.permissions().isSuperuser()) {
      throw denied("must be superuser to rename superusers");
    }
    requireCreates("permission denied to rename role");
    if (role.id() == RoleSet.SUPERUSER) {
      throw new EngineException(
          ErrorCode.FEATURE_NOT_SUPPORTED,
          "the role of the endpoint's operating system user has the name of that user");
    }
    plan.change(Access.put(role.named(rename.to())));
  }

  void drop(RightsStatement.DropRole drop) {
    requireCreates("permission denied to drop role");
    for (RoleName name : drop.roles()) {
      if (name.word() != null) {
        throw new EngineException(
            ErrorCode.INVALID_PARAMETER_VALUE, "cannot use special role specifier in DROP ROLE");
      }
      Role role = roles().role(name.name());
      if (role == null && drop.ifExists()) {
        continue;
      }
      if (role == null) {
        throw DefinitionPlan.noRole(name.name());
      }
      dropOne(role);
    }
  }

  private void dropOne(Role role) {
    if (role.id() == plan.definer().role()) {
      throw new EngineException(ErrorCode.OBJECT_IN_USE, "current user cannot be dropped");
    }
    if (role.id() == plan.definer().session()) {
      throw new EngineException(ErrorCode.OBJECT_IN_USE, "session user cannot be dropped");
    }
    if (role.superuser() && !plan.permissions().isSuperuser()) {
      throw denied("must be superuser to drop superusers");
    }
    if (RoleSet.isPredefined(role.id()) || role.id() == RoleSet.SUPERUSER) {
      throw new EngineException(
          ErrorCode.DEPENDENT_OBJECTS_EXIST,
          "cannot drop role " + role.name() + " because it is required by the database system");
    }
    List<String> dependents = new OwnedObjects(plan).dependents(role.id());
    if (!dependents.isEmpty()) {
      throw new EngineException(
              ErrorCode.DEPENDENT_OBJECTS_EXIST,
              "role \"" + role.name() + "\" cannot be dropped because some objects depend on it")
          .withDetail(String.join("\n", dependents));
    }
    for (Membership each : roles().memberships()) {
      if (each.role() == role.id() || each.member() == role.id()) {
        plan.change(Access.removeMembership(each));
      } else if (each.grantor() == role.id()) {
        plan.change(
            Access.put(
                new Membership(each.role(), each.member(), RoleSet.SUPERUSER, each.admin())));
      }
    }
    plan.change(Access.removeRole(role.id()));
  }

  private boolean createsRoles() {
    if (plan.permissions().isSuperuser()) {
      return true;
    }
    Role own = roles().role(plan.definer().role());
    return own != null && own.createsRoles();
  }

  private void requireCreates(String refusal) {
    if (!createsRoles()) {
      throw denied(refusal);
    }
  }

  /// Whether the role may be changed by who runs the statement.
  void requireChange(Role role) {
    if (role.superuser() && !plan.permissions().isSuperuser()) {
      throw denied("must be superuser");
    }
    requireCreates("must have CREATEROLE privilege");
  }

  // ---- members ----

  void grant(RightsStatement.GrantRole grant) {
    long grantor = grantor(grant.by());
    for (String name : grant.roles()) {
      Role role = plan.role(new RoleName(name, null));
      for (RoleName each : grant.members()) {
        Role member = plan.role(each);
        if (grant.grant()) {
          addMember(role, member, grant.admin(), grantor, true);
        } else {
          removeMember(role, member, grant.admin());
        }
      }
    }
  }

  /// @param by GRANTED BY, or null
  private long grantor(@Nullable RoleName by) {
    if (by == null) {
      return plan.definer().role();
    }
    Role role = plan.role(by);
    if (role.id() != plan.definer().role() && !plan.permissions().isSuperuser()) {
      throw denied("must be superuser to set grantor");
    }
    return role.id();
  }

  /// @param check whether it takes the right to do so
  private void addMember(Role role, Role member, boolean admin, long grantor, boolean check) {
    if (check) {
      requireAdmin(role);
    }
    if (roles().isMember(role.id(), member.id())) {
      throw new EngineException(
          ErrorCode.INVALID_GRANT_OPERATION,
          "role \"%s\" is a member of role \"%s\"".formatted(role.name(), member.name()));
    }
    Membership present = roles().membership(role.id(), member.id());
    if (present == null || (admin && !present.admin())) {
      plan.change(Access.put(new Membership(role.id(), member.id(), grantor, admin)));
    }
  }

  private void removeMember(Role role, Role member, boolean adminAlone) {
    requireAdmin(role);
    Membership present = roles().membership(role.id(), member.id());
    if (present == null) {
      return; // PostgreSQL warns
    }
    if (RoleSet.isPredefined(role.id()) && RoleSet.isPredefined(member.id())) {
      throw new EngineException(
          ErrorCode.FEATURE_NOT_SUPPORTED, "predefined roles are members of one another");
    }
    plan.change(
        adminAlone
            ? Access.put(new Membership(role.id(), member.id(), present.grantor(), false))
            : Access.removeMembership(present));
  }

  private void requireAdmin(Role role) {
    if (role.superuser()) {
      if (!plan.permissions().isSuperuser()) {
        throw denied("must be superuser to alter superusers");
      }
    } else if (!createsRoles() && !roles().isAdminOf(plan.definer().role(), role.id())) {
      throw denied("must have admin option on role \"" + role.name() + "\"");
    }
  }

  // ---- comments ----

  void comment(String name, @Nullable String text) {
    CatalogSnapshot state = plan.state();
    Role role = state.roles().role(name);
    if (role == null) {
      throw DefinitionPlan.noRole(name);
    }
    refusePredefined(role);
    plan.change(Access.put(role.withComment(text)));
  }
}
