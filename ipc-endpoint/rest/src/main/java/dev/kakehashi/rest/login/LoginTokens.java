package dev.kakehashi.rest.login;

import java.security.SecureRandom;
import java.util.ArrayDeque;
import java.util.Base64;
import java.util.Deque;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/// Tokens of logins: 256 random bits, kept as hashes in memory, so a restart ends them all. Bounded for each user. Thread-safe.
final class LoginTokens {
  private static final int TOKEN_BYTES = 32;
  private static final byte[] NO_SALT = {};

  private final SecureRandom random = new SecureRandom();
  private final LongSupplier nanoTime;
  private final long lifeNanos;
  private final int maxOfUser;
  private final Map<SecretDigest, Login> logins = new ConcurrentHashMap<>();

  /// The tokens of each user, the oldest first. Guarded by this.
  private final Map<String, Deque<SecretDigest>> byUser = new HashMap<>();

  private record Login(Users.Known known, long expiresNanos) {}

  LoginTokens(LoginLimits limits, LongSupplier nanoTime) {
    this.lifeNanos = TimeUnit.SECONDS.toNanos(limits.tokenSeconds());
    this.maxOfUser = limits.tokensOfUser();
    this.nanoTime = nanoTime;
  }

  /// Makes a token, which nobody but its owner gets to know.
  String make(Users.Known known) {
    byte[] bytes = new byte[TOKEN_BYTES];
    random.nextBytes(bytes);
    String token = Base64.getUrlEncoder().withoutPadding().encodeToString(bytes);
    SecretDigest digest = SecretDigest.of(NO_SALT, token);
    long now = nanoTime.getAsLong();
    synchronized (this) {
      Deque<SecretDigest> digests =
          byUser.computeIfAbsent(known.user().name(), name -> new ArrayDeque<>());
      // All live equally long: the first ones end first.
      while (!digests.isEmpty()
          && (digests.size() >= maxOfUser || isOver(digests.getFirst(), now))) {
        logins.remove(digests.removeFirst());
      }
      digests.addLast(digest);
      logins.put(digest, new Login(known, now + lifeNanos));
    }
    return token;
  }

  private boolean isOver(SecretDigest digest, long now) {
    Login login = logins.get(digest);
    return login == null || login.expiresNanos() - now <= 0;
  }

  /// Whose token it is; null: it is none, or it has ended.
  Users.@Nullable Known find(String token) {
    Login login = logins.get(SecretDigest.of(NO_SALT, token));
    return login == null || login.expiresNanos() - nanoTime.getAsLong() <= 0 ? null : login.known();
  }

  /// Ends a token; without effect on what is none.
  synchronized void end(String token) {
    SecretDigest digest = SecretDigest.of(NO_SALT, token);
    Login login = logins.remove(digest);
    if (login != null) {
      String name = login.known().user().name();
      Deque<SecretDigest> digests = byUser.get(name);
      if (digests != null) {
        digests.remove(digest);
        if (digests.isEmpty()) {
          byUser.remove(name);
        }
      }
    }
  }

  int count() {
    return logins.size();
  }
}
