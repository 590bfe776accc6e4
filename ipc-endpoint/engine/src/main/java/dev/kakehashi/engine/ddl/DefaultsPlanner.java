package dev.kakehashi.engine.ddl;

import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.engine.catalog.Access;
import dev.kakehashi.engine.rights.Acl;
import dev.kakehashi.engine.rights.ObjectKind;
import dev.kakehashi.engine.rights.Role;
import dev.kakehashi.engine.rights.RoleSet;
import dev.kakehashi.engine.sql.parser.RightsStatement;
import dev.kakehashi.engine.sql.parser.RightsStatement.Granted;
import dev.kakehashi.engine.sql.parser.RightsStatement.RoleName;
import dev.kakehashi.engine.sql.parser.RightsStatement.Word;
import dev.kakehashi.protocol.ErrorCode;
import java.util.ArrayList;
import java.util.List;

/// ALTER DEFAULT PRIVILEGES: what objects to come are granted with.
final class DefaultsPlanner {
  private final DefinitionPlan plan;

  DefaultsPlanner(DefinitionPlan plan) {
    this.plan = plan;
  }

  void alter(RightsStatement.AlterDefaults alter) {
    Granted said = alter.granted();
    List<Long> grantees = GrantPlanner.grantees(said, plan);
    int privileges = 0;
    for (Word word : said.privileges()) {
      if (!word.columns().isEmpty()) {
        throw new EngineException(
            ErrorCode.INVALID_GRANT_OPERATION, "default privileges cannot be set for columns");
      }
      privileges |= GrantPlanner.privileges(word, alter.kind(), alter.kind().all());
    }
    if (alter.kind() == ObjectKind.SCHEMA && !alter.schemas().isEmpty()) {
      throw new EngineException(
          ErrorCode.INVALID_GRANT_OPERATION,
          "cannot use IN SCHEMA clause when using GRANT/REVOKE ON SCHEMAS");
    }
    for (long role : roles(alter.roles())) {
      if (alter.schemas().isEmpty()) {
        change(role, alter.kind(), "", privileges, said, grantees);
      }
      for (String schema : alter.schemas()) {
        if (!plan.state().hasSchema(schema)) {
          throw DefinitionPlanner.noSchema(schema);
        }
        change(role, alter.kind(), schema, privileges, said, grantees);
      }
    }
  }

  private List<Long> roles(List<RoleName> named) {
    if (named.isEmpty()) {
      boolean used = plan.state().roles().isUsed();
      if (used && plan.definer().role() == RoleSet.NOBODY) {
        throw DefinitionPlan.noRole(plan.definer().sessionName());
      }
      return List.of(used ? plan.definer().role() : RoleSet.SUPERUSER);
    }
    List<Long> roles = new ArrayList<>();
    for (RoleName each : named) {
      Role role = plan.role(each);
      if (!plan.state().roles().isMemberOf(plan.definer().role(), role.id())) {
        throw DefinitionRights.mustBeMember(role.name());
      }
      roles.add(role.id());
    }
    return roles;
  }

  private void change(
      long role,
      ObjectKind kind,
      String schema,
      int privileges,
      Granted said,
      List<Long> grantees) {
    Acl initial = schema.isEmpty() ? Acl.initial(kind, role) : Acl.EMPTY;
    Acl present = plan.state().access().defaults(role, kind, schema);
    Acl next =
        GrantPlanner.merged(
            present == null ? initial : present, role, role, privileges, said, grantees, plan);
    Access.Default changed = new Access.Default(role, kind, schema, next);
    if (!next.isSameAs(initial)) {
      plan.change(Access.put(changed));
    } else if (present != null) {
      plan.change(Access.remove(changed));
    }
  }
}
