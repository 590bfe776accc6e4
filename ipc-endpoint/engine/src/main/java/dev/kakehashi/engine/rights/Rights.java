package dev.kakehashi.engine.rights;

import org.jspecify.annotations.Nullable;

/// Whose an object is, and what was granted on it. Immutable; a part of the object's form.
///
/// @param owner number of a role
/// @param acl null: nothing was granted or revoked
public record Rights(long owner, @Nullable Acl acl) {
  /// Rights of objects that were made before there were roles.
  public static final Rights INITIAL = new Rights(RoleSet.SUPERUSER, null);

  /// Privileges that were granted, the owner's own included.
  public Acl effective(ObjectKind kind) {
    return acl == null ? Acl.initial(kind, owner) : acl;
  }

  /// The same with other grants; those that hold anyway are not kept.
  public Rights with(Acl granted, ObjectKind kind) {
    return new Rights(owner, granted.isSameAs(Acl.initial(kind, owner)) ? null : granted);
  }

  /// The same with a new owner, who takes the old one's place in all grants.
  public Rights ownedBy(long newOwner) {
    return new Rights(
        newOwner, acl == null ? null : acl.renamed(role -> role == owner ? newOwner : role));
  }

  /// Whether it names a role.
  public boolean names(long role) {
    return owner == role || (acl != null && acl.names(role));
  }
}
