package dev.kakehashi.engine.rights;

/// In whose name somebody grants: the owner's, or that of the role of his that may grant most of it, as PostgreSQL's `select_best_grantor`.
///
/// @param grantor number of the role
/// @param grantable what it may grant of what was asked for
public record Granting(long grantor, int grantable) {
  /// @param who number of the role that grants
  /// @param wanted set of privileges
  public static Granting of(long who, int wanted, Acl acl, long owner, RoleSet roles) {
    if (who == owner || roles.isSuperuser(who)) {
      return new Granting(owner, wanted);
    }
    Granting best = new Granting(who, 0);
    for (long each : roles.closure(who, true)) {
      int may = each == owner ? wanted : acl.grantableDirectly(each) & wanted;
      if (may == wanted) {
        return new Granting(each, wanted);
      }
      if (Integer.bitCount(may) > Integer.bitCount(best.grantable)) {
        best = new Granting(each, may);
      }
    }
    return best;
  }
}
