package dev.kakehashi.rest.login;

import java.security.SecureRandom;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/// Passwords that were verified a short time ago, as salted hashes of the field that brought them, so that the costly proof is not paid
/// with each request. Bounded. Thread-safe.
final class VerifiedPasswords {
  private static final int MAX = 1000;
  private static final int SALT_BYTES = 32;

  private final byte[] salt = new byte[SALT_BYTES];
  private final LongSupplier nanoTime;
  private final long lifeNanos;

  private record Verified(Users.Known known, long expiresNanos) {}

  /// The oldest first. Guarded by this.
  private final Map<SecretDigest, Verified> verified =
      new LinkedHashMap<>() {
        private static final long serialVersionUID = 1L;

        @Override
        protected boolean removeEldestEntry(Map.Entry<SecretDigest, Verified> eldest) {
          return size() > MAX;
        }
      };

  VerifiedPasswords(LoginLimits limits, LongSupplier nanoTime) {
    this.lifeNanos = TimeUnit.SECONDS.toNanos(limits.cacheSeconds());
    this.nanoTime = nanoTime;
    new SecureRandom().nextBytes(salt);
  }

  Users.@Nullable Known find(String field) {
    SecretDigest digest = SecretDigest.of(salt, field);
    synchronized (this) {
      Verified found = verified.get(digest);
      if (found != null && found.expiresNanos() - nanoTime.getAsLong() <= 0) {
        verified.remove(digest);
        return null;
      }
      return found == null ? null : found.known();
    }
  }

  void add(String field, Users.Known known) {
    if (lifeNanos > 0) {
      SecretDigest digest = SecretDigest.of(salt, field);
      synchronized (this) {
        verified.remove(digest);
        verified.put(digest, new Verified(known, nanoTime.getAsLong() + lifeNanos));
      }
    }
  }

  void remove(String field) {
    SecretDigest digest = SecretDigest.of(salt, field);
    synchronized (this) {
      verified.remove(digest);
    }
  }
}
