package dev.kakehashi.engine.sql.parser;

import dev.kakehashi.engine.rights.ObjectKind;
import dev.kakehashi.engine.sql.lexer.QualifiedName;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// A parsed statement about roles and rights.
public sealed interface RightsStatement {
  /// Name of the statement in errors.
  String command();

  /// A role as it is written: a name, or a word for one.
  ///
  /// @param word what it is instead of a name, or null
  record RoleName(String name, @Nullable Special word) {
    public enum Special {
      CURRENT_ROLE,
      SESSION_USER,
      PUBLIC
    }
  }

  /// Options of CREATE and ALTER ROLE; null: not given.
  ///
  /// @param password as written, [#NONE] for PASSWORD NULL
  /// @param validUntil a timestamp as written
  /// @param inRoles roles that the new one is to be a member of
  /// @param members roles that are to be members of it
  /// @param admins the same with the right to make others members
  record RoleOptions(
      @Nullable Boolean superuser,
      @Nullable Boolean inherits,
      @Nullable Boolean createsRoles,
      @Nullable Boolean createsDatabases,
      @Nullable Boolean logsIn,
      @Nullable String password,
      @Nullable String validUntil,
      List<String> inRoles,
      List<RoleName> members,
      List<RoleName> admins) {
    /// No password.
    public static final String NONE = "";

    /// Whether it is about the password alone, which everybody may change of himself.
    public boolean isPasswordAlone() {
      return superuser == null
          && inherits == null
          && createsRoles == null
          && createsDatabases == null
          && logsIn == null
          && validUntil == null;
    }

    @Override
    public String toString() {
      return "options"; // they may have a password
    }
  }

  record CreateRole(String name, RoleOptions options) implements RightsStatement {
    @Override
    public String command() {
      return "CREATE ROLE";
    }
  }

  record AlterRole(RoleName role, RoleOptions options) implements RightsStatement {
    @Override
    public String command() {
      return "ALTER ROLE";
    }
  }

  record RenameRole(String from, String to) implements RightsStatement {
    @Override
    public String command() {
      return "ALTER ROLE";
    }
  }

  record DropRole(List<RoleName> roles, boolean ifExists) implements RightsStatement {
    @Override
    public String command() {
      return "DROP ROLE";
    }
  }

  /// GRANT and REVOKE of roles.
  ///
  /// @param admin WITH ADMIN OPTION; of REVOKE: the option alone
  /// @param by GRANTED BY, or null
  record GrantRole(
      boolean grant,
      List<String> roles,
      List<RoleName> members,
      boolean admin,
      @Nullable RoleName by)
      implements RightsStatement {
    @Override
    public String command() {
      return grant ? "GRANT ROLE" : "REVOKE ROLE";
    }
  }

  /// A privilege as it is written.
  ///
  /// @param word `all` for all of them
  /// @param columns empty: the object as a whole
  record Word(String word, List<String> columns) {}

  /// GRANT and REVOKE of privileges, without the objects.
  ///
  /// @param option WITH GRANT OPTION; of REVOKE: the option alone
  /// @param by GRANTED BY, or null
  record Granted(
      boolean grant,
      List<Word> privileges,
      List<RoleName> grantees,
      boolean option,
      boolean cascade,
      @Nullable RoleName by) {}

  /// GRANT and REVOKE of privileges.
  ///
  /// @param kind of the objects
  /// @param inSchemas whether the names are those of schemas, all of whose objects of the kind are meant
  record Grant(ObjectKind kind, List<QualifiedName> names, boolean inSchemas, Granted granted)
      implements RightsStatement {
    @Override
    public String command() {
      return granted.grant() ? "GRANT" : "REVOKE";
    }
  }

  /// ALTER DEFAULT PRIVILEGES.
  ///
  /// @param roles who makes the objects; empty: the current role
  /// @param schemas where; empty: anywhere
  record AlterDefaults(List<RoleName> roles, List<String> schemas, ObjectKind kind, Granted granted)
      implements RightsStatement {
    @Override
    public String command() {
      return "ALTER DEFAULT PRIVILEGES";
    }
  }

  /// Kinds of objects that have an owner.
  enum Owned {
    TABLE,
    VIEW,
    SEQUENCE,
    QUEUE,
    APPLICATION,
    SCHEMA,
    DATABASE
  }

  /// ALTER ... OWNER TO.
  record OwnerTo(Owned kind, QualifiedName name, boolean ifExists, RoleName owner)
      implements RightsStatement {
    @Override
    public String command() {
      return "ALTER " + kind;
    }
  }

  record DropOwned(List<RoleName> roles, boolean cascade) implements RightsStatement {
    @Override
    public String command() {
      return "DROP OWNED";
    }
  }

  record ReassignOwned(List<RoleName> roles, RoleName to) implements RightsStatement {
    @Override
    public String command() {
      return "REASSIGN OWNED";
    }
  }
}
