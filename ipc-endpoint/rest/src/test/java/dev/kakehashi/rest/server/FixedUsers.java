package dev.kakehashi.rest.server;

import dev.kakehashi.requests.RequestUser;
import dev.kakehashi.rest.login.Users;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/// Users in memory, with passwords in plain.
public final class FixedUsers implements Users {
  private final Map<String, String> passwords = new ConcurrentHashMap<>();
  private final Map<String, Long> epochs = new ConcurrentHashMap<>();
  private final Map<String, String> roles = new ConcurrentHashMap<>();

  /// How often a password was verified.
  public final AtomicInteger verifications = new AtomicInteger();

  /// With `alice` (password `wonder`), `bob` (`builder`) and `watch` (`watch`), a member of pg_monitor.
  public FixedUsers() {
    put("alice", "wonder");
    put("bob", "builder");
    put("watch", "watch");
    roles.put("watch", "pg_monitor");
  }

  /// Makes a user, or changes his password.
  public void put(String name, String password) {
    passwords.put(name, password);
    epochs.merge(name, 1L, Long::sum);
  }

  public void drop(String name) {
    passwords.remove(name);
    epochs.remove(name);
  }

  private @Nullable Known known(String name) {
    Long epoch = epochs.get(name);
    return epoch == null ? null : new Known(new RequestUser(name, false), epoch);
  }

  @Override
  public @Nullable Known verify(String name, String password) {
    verifications.incrementAndGet();
    return password.equals(passwords.get(name)) ? known(name) : null;
  }

  @Override
  public @Nullable Known ofOsUser(String osUser) {
    return new Known(new RequestUser(osUser, true), 1);
  }

  @Override
  public @Nullable Known ofCertificate(String commonName) {
    return known(commonName);
  }

  @Override
  public boolean isCurrent(RequestUser user, long epoch) {
    return user.isOperator() || epochs.getOrDefault(user.name(), 0L) == epoch;
  }

  @Override
  public boolean isMemberOf(RequestUser user, String role) {
    return user.isOperator() || role.equals(roles.get(user.name()));
  }
}
