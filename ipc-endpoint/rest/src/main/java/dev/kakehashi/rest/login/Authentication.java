package dev.kakehashi.rest.login;

import dev.kakehashi.rest.problem.Problem;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Finds out who sends a request: by a password (Basic), by a token (Bearer), or by what the connection proves. Thread-safe.
public final class Authentication {
  private static final Logger LOG = LoggerFactory.getLogger(Authentication.class);
  private static final String BASIC = "Basic ";
  private static final String BEARER = "Bearer ";

  /// A user's name or password is no longer.
  private static final int MAX_FIELD = 4096;

  private static final int MAX_VERIFICATION_WAIT_SECONDS = 10;

  private final Users users;
  private final LoginLimits limits;
  private final LoginTokens tokens;
  private final VerifiedPasswords passwords;
  private final LoginBrakes brakes;
  private final Semaphore verifications;
  private final AtomicLong failures = new AtomicLong();

  public Authentication(Users users) {
    this(users, LoginLimits.DEFAULT, System::nanoTime);
  }

  /// @param nanoTime as System.nanoTime()
  public Authentication(Users users, LoginLimits limits, LongSupplier nanoTime) {
    this.users = users;
    this.limits = limits;
    this.tokens = new LoginTokens(limits, nanoTime);
    this.passwords = new VerifiedPasswords(limits, nanoTime);
    this.brakes = new LoginBrakes(limits, nanoTime);
    this.verifications = new Semaphore(limits.verifications(), true);
  }

  public Users users() {
    return users;
  }

  /// User who sends a request, if that can be told without a proof that takes time.
  ///
  /// @return null: ask [#prove]
  /// @throws Problem 401
  public Users.@Nullable Known find(LoginCredentials credentials) {
    @Nullable String field = credentials.authorization();
    if (field == null) {
      Users.Known proven = credentials.proven();
      if (proven == null || !isCurrent(proven)) {
        throw unauthorized("a user has to log in");
      }
      return proven;
    }
    if (startsWith(field, BEARER)) {
      Users.Known known = tokens.find(field.substring(BEARER.length()));
      if (known == null || !isCurrent(known)) {
        throw Problem.of(401, "invalid-token", "Invalid token", "the token is unknown or has ended")
            .withHeader("WWW-Authenticate", "Bearer realm=\"kakehashi\", error=\"invalid_token\"");
      }
      return known;
    }
    if (!startsWith(field, BASIC) || field.length() > MAX_FIELD) {
      throw unauthorized("the field Authorization is neither Basic nor Bearer");
    }
    Users.Known known = passwords.find(field);
    if (known != null && !isCurrent(known)) {
      passwords.remove(field);
      return null;
    }
    return known;
  }

  private boolean isCurrent(Users.Known known) {
    return users.isCurrent(known.user(), known.epoch());
  }

  /// Verifies a password. Takes milliseconds, and waits for its turn.
  ///
  /// @throws Problem 401, or 429 after many failures
  public Users.Known prove(LoginCredentials credentials) {
    String field = credentials.authorization() == null ? "" : credentials.authorization();
    NameAndPassword pair = NameAndPassword.parse(field);
    long delayNanos = brakes.delayNanos(pair.name(), credentials.address());
    if (delayNanos > 0) {
      throw slowDown(TimeUnit.NANOSECONDS.toSeconds(delayNanos) + 1);
    }
    Users.Known known = verify(pair);
    if (known == null) {
      failures.incrementAndGet();
      brakes.failed(pair.name(), credentials.address());
      LOG.warn(
          "password authentication failed for user \"{}\" from {}",
          printable(pair.name()),
          credentials.address());
      throw unauthorized("user or password is wrong");
    }
    brakes.succeeded(pair.name(), credentials.address());
    passwords.add(field, known);
    return known;
  }

  private Users.@Nullable Known verify(NameAndPassword pair) {
    try {
      if (!verifications.tryAcquire(MAX_VERIFICATION_WAIT_SECONDS, TimeUnit.SECONDS)) {
        throw slowDown(1);
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw slowDown(1);
    }
    try {
      return users.verify(pair.name(), pair.password());
    } finally {
      verifications.release();
    }
  }

  private static Problem slowDown(long seconds) {
    return Problem.of(429, "too-many-logins", "Too many logins", "too many logins have failed")
        .withRetryable(true)
        .withHeader("Retry-After", String.valueOf(seconds));
  }

  /// Makes a token for a user who has proven who he is.
  ///
  /// @param seconds for which it lives
  public record Token(String text, long seconds) {
    /// Hides the secret.
    @Override
    public String toString() {
      return "token for " + seconds + " s";
    }
  }

  /// @throws Problem 403: he has shown a token, and tokens do not breed
  public Token login(Users.Known known, @Nullable String authorization) {
    if (authorization != null && startsWith(authorization, BEARER)) {
      throw Problem.of(
          403, "password-needed", "Password needed", "a token does not give another one");
    }
    return new Token(tokens.make(known), limits.tokenSeconds());
  }

  /// Ends the token of a request.
  ///
  /// @throws Problem 400: it was not sent with one
  public void logout(@Nullable String authorization) {
    if (authorization == null || !startsWith(authorization, BEARER)) {
      throw Problem.badRequest("only a token can be ended, and the request has none");
    }
    tokens.end(authorization.substring(BEARER.length()));
  }

  /// Tokens that have not been ended.
  public int tokens() {
    return tokens.count();
  }

  /// Passwords that were wrong, since the start.
  public long failures() {
    return failures.get();
  }

  private static boolean startsWith(String field, String scheme) {
    return field.regionMatches(true, 0, scheme, 0, scheme.length());
  }

  private static String printable(String name) {
    StringBuilder text = new StringBuilder();
    name.codePoints()
        .limit(64)
        .forEach(c -> text.appendCodePoint(Character.isISOControl(c) ? '?' : c));
    return text.toString();
  }

  private static Problem unauthorized(String detail) {
    return Problem.of(401, "not-authenticated", "Not authenticated", detail)
        .withHeader(
            "WWW-Authenticate",
            "Basic realm=\"kakehashi\", charset=\"UTF-8\", Bearer realm=\"kakehashi\"");
  }

  /// Credentials of Basic (RFC 7617).
  private record NameAndPassword(String name, String password) {
    static NameAndPassword parse(String field) {
      try {
        byte[] bytes = Base64.getDecoder().decode(field.substring(BASIC.length()).strip());
        String pair = StandardCharsets.UTF_8.newDecoder().decode(ByteBuffer.wrap(bytes)).toString();
        int colon = pair.indexOf(':');
        if (colon > 0) {
          return new NameAndPassword(pair.substring(0, colon), pair.substring(colon + 1));
        }
      } catch (IllegalArgumentException | CharacterCodingException e) {
        throw unauthorized("the field Authorization is broken");
      }
      throw unauthorized("the field Authorization is broken");
    }
  }
}
