package dev.kakehashi.engine.api;

/// For whom a session works, as far as it decides what the engine's tables show of the sessions, transactions and statements of others.
///
/// @param principal OS user of the client; empty: the engine's own
/// @param userName user of the engine
/// @param role whom the client itself works for, as a role of PostgreSQL; empty: it does not say
/// @param sight how far it sees
public record Viewer(String principal, String userName, String role, Sight sight) {
  /// How far somebody sees.
  public enum Sight {
    /// Work of the same principal, user and role.
    ROLE,
    /// Work of the same principal and user, whatever the role.
    USER,
    ALL
  }

  /// Owner of what nobody in particular does: only who sees all sees it.
  public static final Viewer NOBODY = new Viewer("", "", "", Sight.ROLE);

  /// Whether this one may see what `owner` does.
  public boolean sees(Viewer owner) {
    if (sight == Sight.ALL) {
      return true;
    }
    return !owner.equals(NOBODY)
        && principal.equals(owner.principal)
        && userName.equals(owner.userName)
        && (sight == Sight.USER || role.equals(owner.role));
  }
}
