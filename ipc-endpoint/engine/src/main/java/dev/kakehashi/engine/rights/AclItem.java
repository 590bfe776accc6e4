package dev.kakehashi.engine.rights;

/// Privileges that one role has granted to another.
///
/// @param grantee number of a role, or [Acl#PUBLIC]
/// @param grantor number of a role
/// @param privileges set of [Privilege]
/// @param grantable those of them that the grantee may grant on
public record AclItem(long grantee, long grantor, int privileges, int grantable) {
  /// The same with other sets.
  AclItem with(int newPrivileges, int newGrantable) {
    return new AclItem(grantee, grantor, newPrivileges, newGrantable);
  }

  boolean isEmpty() {
    return privileges == 0 && grantable == 0;
  }
}
