package dev.kakehashi.server;

import dev.kakehashi.engine.api.Roles;
import dev.kakehashi.protocol.authentication.Nobodies;
import dev.kakehashi.protocol.authentication.ScramVerifier;
import dev.kakehashi.requests.RequestUser;
import dev.kakehashi.rest.login.Users;
import dev.kakehashi.transport.os.Credentials;
import java.io.IOException;
import java.time.Instant;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/// Users of the HTTP door: the engine's login roles, and users of the user file who are no roles. Thread-safe.
final class HttpUsers implements Users {
  /// How long a look at a user's right to be here holds if no role changes: the user file is read for it.
  private static final long LOOK_NANOS = 100_000_000L;

  private static final int MOST_LOOKS = 10_000;

  private final Roles roles;

  private final boolean peers;

  private final Nobodies nobodies;

  private final String operator = Credentials.ownUserName();
  private final Map<String, Look> looks = new ConcurrentHashMap<>();

  /// @param roles their state before it
  /// @param epoch -1: the user must not be here
  private record Look(Object roles, long epoch, long atNanos) {}

  /// @param peers whether an OS user who has connected to the Unix socket is the user of that name; otherwise he proves nothing
  HttpUsers(Roles roles, UserFile file, boolean peers) throws IOException {
    this.roles = roles;
    this.peers = peers;
    this.nobodies = new Nobodies(file.secret());
  }

  @Override
  public @Nullable Known verify(String name, String password) {
    Optional<Roles.Login> login = login(name);
    @Nullable String verifier = login.map(Roles.Login::verifier).orElse(null);
    // Made in every case, and as costly as those who exist are: the time says nothing.
    ScramVerifier asked = nobodies.of(name, verifier);
    boolean isRight = asked.matches(password.toCharArray());
    return isRight && verifier != null ? known(login.orElseThrow()) : null;
  }

  @Override
  public @Nullable Known ofOsUser(String osUser) {
    return peers ? withoutPassword(osUser) : null;
  }

  @Override
  public @Nullable Known ofCertificate(String commonName) {
    return login(commonName).map(this::known).orElse(null);
  }

  /// The user of a name whom the kernel vouches for. As long as rights do not count he need not be known.
  private @Nullable Known withoutPassword(String name) {
    Optional<Roles.Login> login = login(name);
    if (login.isPresent()) {
      return known(login.get());
    }
    return mayBeUnknown(name) ? new Known(user(name), 0) : null;
  }

  private boolean mayBeUnknown(String name) {
    return peers && (!roles.areUsed() || name.equals(operator));
  }

  private Optional<Roles.Login> login(String name) {
    return roles.login(name).filter(login -> login.canLogin() && login.isValid(Instant.now()));
  }

  private Known known(Roles.Login login) {
    return new Known(user(login.name()), epoch(login));
  }

  private RequestUser user(String name) {
    return new RequestUser(name, name.equals(operator));
  }

  /// Another number after each change of the password; positive. A user of the file who becomes a role keeps his.
  private static long epoch(Roles.Login login) {
    return 1 + (Objects.hashCode(login.verifier()) & 0xFFFF_FFFFL);
  }

  @Override
  public boolean isCurrent(RequestUser user, long epoch) {
    long now = System.nanoTime();
    Look look = looks.get(user.name());
    Object state = roles.state();
    if (look == null || !look.roles().equals(state) || now - look.atNanos() > LOOK_NANOS) {
      if (looks.size() > MOST_LOOKS) {
        looks.clear();
      }
      look = new Look(state, currentEpoch(user.name()), now);
      looks.put(user.name(), look);
    }
    return look.epoch() == epoch;
  }

  private long currentEpoch(String name) {
    Optional<Roles.Login> login = login(name);
    if (login.isPresent()) {
      return epoch(login.get());
    }
    return mayBeUnknown(name) ? 0 : -1;
  }

  /// As long as there are no roles nobody is told of others but who runs the endpoint, as in the engine's table of sessions.
  @Override
  public boolean isMemberOf(RequestUser user, String role) {
    return user.isOperator() || (roles.areUsed() && roles.isMemberOf(user.name(), role));
  }
}
