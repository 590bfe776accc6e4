package dev.kakehashi.engine.rights;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.Deque;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.pcollections.HashTreePMap;
import org.pcollections.PMap;

/// All roles and who is a member of which. Immutable.
///
/// As long as no role was made, rights do not count: everybody is a superuser. From the first one on they do, see [#isUsed].
public final class RoleSet {
  /// The role of the endpoint's own OS user, who owns what was made before there were roles.
  public static final long SUPERUSER = -1;

  /// Somebody who is no role: has what PUBLIC has.
  public static final long NOBODY = -2;

  public static final long READ_ALL_DATA = -11;
  public static final long WRITE_ALL_DATA = -12;
  public static final long MONITOR = -13;
  public static final long READ_ALL_STATS = -14;
  public static final long READ_ALL_SETTINGS = -15;
  public static final long SIGNAL_BACKEND = -16;
  public static final long READ_SERVER_FILES = -17;
  public static final long WRITE_SERVER_FILES = -18;
  public static final long CHECKPOINT = -19;

  /// Members may deploy native applications, where they may create objects.
  public static final long DEPLOY = -20;

  /// Members may take the log, as a standby does.
  public static final long REPLICATION = -21;

  private static final List<Role> PREDEFINED =
      List.of(
          new Role(READ_ALL_DATA, "pg_read_all_data"),
          new Role(WRITE_ALL_DATA, "pg_write_all_data"),
          new Role(MONITOR, "pg_monitor"),
          new Role(READ_ALL_STATS, "pg_read_all_stats"),
          new Role(READ_ALL_SETTINGS, "pg_read_all_settings"),
          new Role(SIGNAL_BACKEND, "pg_signal_backend"),
          new Role(READ_SERVER_FILES, "pg_read_server_files"),
          new Role(WRITE_SERVER_FILES, "pg_write_server_files"),
          new Role(CHECKPOINT, "pg_checkpoint"),
          new Role(DEPLOY, "kakehashi_deploy"),
          new Role(REPLICATION, "kakehashi_replication"));

  private final PMap<Long, Role> roles;
  private final PMap<String, Role> names;
  private final PMap<Pair, Membership> memberships;
  private final boolean used;

  private record Pair(long role, long member) {}

  private RoleSet(
      PMap<Long, Role> roles,
      PMap<String, Role> names,
      PMap<Pair, Membership> memberships,
      boolean used) {
    this.roles = roles;
    this.names = names;
    this.memberships = memberships;
    this.used = used;
  }

  /// The roles that are always there.
  public static RoleSet initial() {
    RoleSet set =
        new RoleSet(HashTreePMap.empty(), HashTreePMap.empty(), HashTreePMap.empty(), false);
    for (Role role : PREDEFINED) {
      set = set.with(role);
    }
    for (long of : new long[] {READ_ALL_STATS, READ_ALL_SETTINGS}) {
      set = set.with(new Membership(of, MONITOR, SUPERUSER, false));
    }
    return new RoleSet(set.roles, set.names, set.memberships, false);
  }

  /// Whether rights count: a role was made.
  public boolean isUsed() {
    return used;
  }

  /// Whether it is one of those that are always there.
  public static boolean isPredefined(long role) {
    return role < NOBODY;
  }

  public @Nullable Role role(long id) {
    return roles.get(id);
  }

  public @Nullable Role role(String name) {
    return names.get(name);
  }

  /// The name of a role, for messages.
  public String name(long id) {
    Role role = roles.get(id);
    return role == null ? "unknown (" + id + ")" : role.name();
  }

  /// In the order of their numbers: those that are always there come first.
  public List<Role> all() {
    List<Role> all = new ArrayList<>(roles.values());
    all.sort(Comparator.comparingLong(Role::id));
    return all;
  }

  /// All memberships, those that are always there included.
  public List<Membership> memberships() {
    List<Membership> all = new ArrayList<>(memberships.values());
    all.sort(Comparator.comparingLong(Membership::role).thenComparingLong(Membership::member));
    return all;
  }

  public @Nullable Membership membership(long role, long member) {
    return memberships.get(new Pair(role, member));
  }

  // ---- questions ----

  public boolean isSuperuser(long id) {
    if (!used) {
      return true;
    }
    Role role = roles.get(id);
    return role != null && role.superuser();
  }

  /// Whether a role may do what another one may: it is the same, a member by inheritance, or a superuser.
  public boolean hasRightsOf(long member, long role) {
    return isSuperuser(member) || member == role || closure(member, true).contains(role);
  }

  /// Whether a role may become another one: inheritance does not matter.
  public boolean isMemberOf(long member, long role) {
    return isSuperuser(member) || isMember(member, role);
  }

  /// The same without the power of superusers.
  public boolean isMember(long member, long role) {
    return member == role || closure(member, false).contains(role);
  }

  /// Whether a role may make others members of another.
  public boolean isAdminOf(long member, long role) {
    if (isSuperuser(member)) {
      return true;
    }
    if (member == role) {
      return false;
    }
    return closure(member, false).stream()
        .map(each -> membership(role, each))
        .anyMatch(found -> found != null && found.admin());
  }

  /// A role and all that it is a member of.
  ///
  /// @param inherited only those whose rights it has without becoming them
  public Collection<Long> closure(long member, boolean inherited) {
    Set<Long> found = new HashSet<>();
    List<Long> order = new ArrayList<>();
    Deque<Long> left = new ArrayDeque<>();
    left.add(member);
    found.add(member);
    while (!left.isEmpty()) {
      long next = left.remove();
      order.add(next);
      Role role = roles.get(next);
      if (inherited && (role == null || !role.inherits())) {
        continue;
      }
      // In the order in which PostgreSQL has them: of several that may grant the first one does.
      memberships.values().stream()
          .filter(each -> each.member() == next)
          .map(Membership::role)
          .sorted()
          .filter(found::add)
          .forEach(left::add);
    }
    return order;
  }

  // ---- changes ----

  /// Adds a role, or gives it another form.
  public RoleSet with(Role role) {
    Role before = roles.get(role.id());
    PMap<String, Role> left = before == null ? names : names.minus(before.name());
    return new RoleSet(
        roles.plus(role.id(), role), left.plus(role.name(), role), memberships, true);
  }

  public RoleSet without(long id) {
    Role gone = roles.get(id);
    return gone == null
        ? this
        : new RoleSet(roles.minus(id), names.minus(gone.name()), memberships, used);
  }

  public RoleSet with(Membership membership) {
    return new RoleSet(
        roles,
        names,
        memberships.plus(new Pair(membership.role(), membership.member()), membership),
        used);
  }

  public RoleSet without(long role, long member) {
    return new RoleSet(roles, names, memberships.minus(new Pair(role, member)), used);
  }
}
