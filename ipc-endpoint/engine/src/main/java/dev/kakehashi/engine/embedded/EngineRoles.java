package dev.kakehashi.engine.embedded;

import dev.kakehashi.engine.api.Roles;
import dev.kakehashi.engine.catalog.CatalogSnapshot;
import dev.kakehashi.engine.rights.Role;
import dev.kakehashi.engine.rights.RoleSet;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/// The roles of the catalogue, and the users who were there before. Thread-safe.
final class EngineRoles implements Roles {
  /// Names of users that are remembered: more than an endpoint has.
  private static final int MAX_SEEN = 10_000;

  private final Supplier<CatalogSnapshot> catalog;

  /// Names of users who have come since the engine was opened.
  private final Set<String> seen = ConcurrentHashMap.newKeySet();

  private volatile Supplier<Map<String, String>> known = Map::of;

  /// The endpoint's own OS user.
  private volatile String operator = System.getProperty("user.name", "");

  EngineRoles(Supplier<CatalogSnapshot> catalog) {
    this.catalog = catalog;
  }

  private RoleSet roles() {
    return catalog.get().roles();
  }

  String operator() {
    return operator;
  }

  void operator(String name) {
    operator = name;
  }

  /// Somebody has come.
  void came(String userName) {
    if (seen.size() < MAX_SEEN) {
      seen.add(userName);
    }
  }

  /// Names of those who could get in before there were roles, as far as they are known.
  Collection<String> names() {
    List<String> names = new ArrayList<>(seen);
    names.addAll(known.get().keySet());
    return names;
  }

  /// The role of a user. A superuser also if it was made for a directory that another OS user has now.
  long role(RoleSet roles, String userName) {
    Role role = roles.role(userName);
    if (role != null) {
      return role.id();
    }
    return userName.equals(operator) ? RoleSet.SUPERUSER : RoleSet.NOBODY;
  }

  @Override
  public boolean areUsed() {
    return roles().isUsed();
  }

  @Override
  public Object state() {
    return roles();
  }

  @Override
  public Optional<Login> login(String name) {
    RoleSet roles = roles();
    Role role = roles.isUsed() ? roles.role(name) : null;
    String ofFile = known.get().get(name);
    if (role != null) {
      return Optional.of(
          new Login(
              name,
              true,
              verifier(role, ofFile),
              role.logsIn(),
              role.validUntil(),
              role.superuser()));
    }
    boolean superuser = !roles.isUsed() || name.equals(operator);
    return ofFile == null
        ? Optional.empty()
        : Optional.of(new Login(name, false, ofFile, true, null, superuser));
  }

  /// The operator's password is that of the file, if it has one: who can write the file owns everything, and must not be locked out.
  private @Nullable String verifier(Role role, @Nullable String ofFile) {
    if (ofFile != null && (role.verifier() == null || role.id() == RoleSet.SUPERUSER)) {
      return ofFile;
    }
    String own = role.verifier();
    return own == null || own.equals(Role.NO_PASSWORD) ? null : own;
  }

  @Override
  public boolean isSuperuser(String name) {
    RoleSet roles = roles();
    return roles.isSuperuser(role(roles, name));
  }

  @Override
  public boolean isMemberOf(String name, String role) {
    RoleSet roles = roles();
    if (!roles.isUsed()) {
      return true;
    }
    Role of = roles.role(role);
    long member = role(roles, name);
    return of == null ? roles.isSuperuser(member) : roles.hasRightsOf(member, of.id());
  }

  @Override
  public void users(Supplier<Map<String, String>> supplier) {
    known = supplier;
  }
}
