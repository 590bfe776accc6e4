package dev.kakehashi.engine.rights;

/// That a role is a member of another.
///
/// @param role number of the one that the other is a member of
/// @param member number of a role
/// @param grantor number of the role that has made it so
/// @param admin whether the member may make others members
public record Membership(long role, long member, long grantor, boolean admin) {}
