package dev.kakehashi.engine.api;

import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.Map;
import java.util.Optional;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/// Roles of an engine, as those ask who let users in and serve them. Thread-safe; each answer is as of the last commit.
///
/// As long as nobody has made a role, rights do not count: everybody may do everything, and who gets in is the user file's matter.
public interface Roles {
  /// How somebody gets in.
  ///
  /// @param name of the role or user
  /// @param isRole whether it is a role; otherwise it is a user of the user file
  /// @param verifier of the password in SCRAM's form (`SCRAM-SHA-256$...`); null: there is none, no password is the right one
  /// @param canLogin whether it may log in at all
  /// @param validUntilMicros when the password ends, since 2000-01-01 UTC; null: never
  /// @param superuser whether it may do everything
  record Login(
      String name,
      boolean isRole,
      @Nullable String verifier,
      boolean canLogin,
      @Nullable Long validUntilMicros,
      boolean superuser) {
    private static final Instant EPOCH = Instant.parse("2000-01-01T00:00:00Z");

    /// Whether its password is still good.
    public boolean isValid(Instant now) {
      return validUntilMicros == null
          || now.isBefore(EPOCH.plus(validUntilMicros, ChronoUnit.MICROS));
    }

    @Override
    public String toString() {
      return name; // a verifier is nobody's business
    }
  }

  /// An engine in which rights do not count.
  Roles NONE =
      new Roles() {
        @Override
        public boolean areUsed() {
          return false;
        }

        @Override
        public Optional<Login> login(String name) {
          return Optional.empty();
        }

        @Override
        public boolean isSuperuser(String name) {
          return true;
        }

        @Override
        public boolean isMemberOf(String name, String role) {
          return true;
        }

        @Override
        public void users(Supplier<Map<String, String>> known) {}
      };

  /// Whether a role was made, so that rights count.
  boolean areUsed();

  /// How a role of the name gets in, or a user of the user file who is no role; empty: there is none.
  ///
  /// A role whose password was never set in SQL has that of the user file.
  Optional<Login> login(String name);

  /// Another object after each change of a role. So who remembers an answer knows whether it still holds, as far as the user file is the
  /// same. Some nanoseconds.
  default Object state() {
    return NONE;
  }

  /// Whether somebody may do everything.
  boolean isSuperuser(String name);

  /// Whether somebody has the rights of a role: is a member by inheritance, or a superuser. True for everybody as long as rights do not
  /// count.
  ///
  /// @param role also one that is always there, such as `pg_monitor`
  boolean isMemberOf(String name, String role);

  /// Whether a role may end work of another: its own, that of roles whose rights it has, and with `pg_signal_backend` everybody's. Only
  /// superusers end work of superusers.
  default boolean mayCancel(String name, String owner) {
    return name.equals(owner)
        || isSuperuser(name)
        || (!isSuperuser(owner)
            && (isMemberOf(name, owner) || isMemberOf(name, "pg_signal_backend")));
  }

  /// Source of the users of the user file: verifiers by name. Called from any thread, when somebody logs in and when the first role is
  /// made. Set once, before the first session.
  ///
  /// @param known throws [EngineException] when the file cannot be read
  void users(Supplier<Map<String, String>> known);
}
