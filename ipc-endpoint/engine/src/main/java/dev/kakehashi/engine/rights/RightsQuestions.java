package dev.kakehashi.engine.rights;

import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.protocol.ErrorCode;
import java.util.List;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/// Questions of functions about rights, answered by the catalogue as the transaction of their statement sees it.
public interface RightsQuestions {
  /// There is no catalogue to ask.
  RightsQuestions NONE =
      new RightsQuestions() {
        @Override
        public boolean has(
            About kind,
            @Nullable String role,
            String object,
            @Nullable String column,
            Supplier<List<Asked>> privileges) {
          throw noCatalogue();
        }

        @Override
        public boolean hasRole(
            @Nullable String member, String role, Supplier<List<Membership>> asked) {
          throw noCatalogue();
        }

        private EngineException noCatalogue() {
          return new EngineException(
              ErrorCode.FEATURE_NOT_SUPPORTED, "functions about rights cannot be used here");
        }
      };

  /// Kinds of things that are asked about.
  enum About {
    TABLE,
    COLUMN,
    ANY_COLUMN,
    SEQUENCE,
    QUEUE,
    /// A function or procedure of an application, by its name.
    FUNCTION,
    SCHEMA,
    DATABASE,
    LOCATION
  }

  /// A privilege, or the right to grant it.
  record Asked(Privilege privilege, boolean grantable) {}

  /// Kinds of questions about a role.
  enum Membership {
    /// Whether it may become the role.
    MEMBER,
    /// Whether it has the rights of the role.
    USAGE,
    /// Whether it may make others members.
    ADMIN
  }

  /// Whether a role has one of the privileges.
  ///
  /// @param role its name; null: that of the session, `public`: everybody
  /// @param object name as SQL writes it
  /// @param column of the table, or null
  /// @param privileges asked for when role and object are known, as PostgreSQL reports errors in that order
  /// @throws EngineException UNDEFINED_OBJECT, UNDEFINED_TABLE, UNDEFINED_SCHEMA, UNDEFINED_COLUMN, WRONG_OBJECT_TYPE
  boolean has(
      About kind,
      @Nullable String role,
      String object,
      @Nullable String column,
      Supplier<List<Asked>> privileges);

  /// Whether one of the questions is true of a role.
  ///
  /// @param member its name; null: that of the session
  /// @throws EngineException UNDEFINED_OBJECT
  boolean hasRole(@Nullable String member, String role, Supplier<List<Membership>> asked);
}
