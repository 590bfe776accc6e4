package dev.kakehashi.protocol.authentication;

import java.util.Arrays;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/// A salted hash of a password from which the password cannot be found, in the form that PostgreSQL keeps in `pg_authid`
/// (RFC 5803): `SCRAM-SHA-256$iterations:salt$StoredKey:ServerKey`. Immutable.
public final class ScramVerifier {
  /// Iterations of a new password, as many as PostgreSQL's.
  public static final int ITERATIONS = 4096;

  private static final int SALT_BYTES = 16;
  private static final Pattern FORM =
      Pattern.compile(
          "SCRAM-SHA-256\\$(\\d{1,7}):([A-Za-z0-9+/=]+)\\$([A-Za-z0-9+/=]+):([A-Za-z0-9+/=]+)");

  private final int iterations;
  private final byte[] salt;
  private final byte[] storedKey; // hash of the client key of RFC 5802
  private final byte[] serverKey;

  private ScramVerifier(int iterations, byte[] salt, byte[] storedKey, byte[] serverKey) {
    this.iterations = iterations;
    this.salt = salt;
    this.storedKey = storedKey;
    this.serverKey = serverKey;
  }

  /// @param password not empty
  public static ScramVerifier of(char[] password) {
    return of(password, Scram.random(SALT_BYTES), ITERATIONS);
  }

  static ScramVerifier of(char[] password, byte[] salt, int iterations) {
    byte[] prepared = SaslPrep.prepare(password);
    byte[] salted = Scram.salted(prepared, salt, iterations, () -> false);
    ScramVerifier verifier =
        new ScramVerifier(
            iterations,
            salt,
            Scram.sha256(Scram.hmac(salted, "Client Key")),
            Scram.hmac(salted, "Server Key"));
    Arrays.fill(prepared, (byte) 0);
    Arrays.fill(salted, (byte) 0);
    return verifier;
  }

  /// A verifier of no password, for a user who does not exist: always the same, so that who tries cannot tell him from others.
  ///
  /// @param secret that only the endpoint knows
  /// @param iterations as the passwords of those have who exist, see [#iterations()]
  public static ScramVerifier ofNobody(byte[] secret, String user, int iterations) {
    byte[] salt = Arrays.copyOf(Scram.hmac(secret, "salt of " + user), SALT_BYTES);
    return new ScramVerifier(
        iterations, salt, Scram.random(Scram.KEY_BYTES), Scram.random(Scram.KEY_BYTES));
  }

  /// @throws IllegalArgumentException when it has another form, or fewer iterations than 4,096 or more than 1,000,000
  public static ScramVerifier parse(String text) {
    Matcher matcher = FORM.matcher(text);
    if (!matcher.matches()) {
      throw new IllegalArgumentException("not a SCRAM-SHA-256 verifier");
    }
    int iterations = Integer.parseInt(matcher.group(1));
    try {
      ScramVerifier verifier =
          new ScramVerifier(
              iterations,
              Scram.base64(matcher.group(2), "the salt"),
              Scram.base64(matcher.group(3), "the stored key"),
              Scram.base64(matcher.group(4), "the server key"));
      if (iterations >= Scram.MIN_ITERATIONS
          && iterations <= Scram.MAX_ITERATIONS
          && verifier.salt.length <= Scram.MAX_SALT_BYTES
          && verifier.storedKey.length == Scram.KEY_BYTES
          && verifier.serverKey.length == Scram.KEY_BYTES) {
        return verifier;
      }
    } catch (ScramException e) {
      throw new IllegalArgumentException("not a SCRAM-SHA-256 verifier", e);
    }
    throw new IllegalArgumentException(
        "not a SCRAM-SHA-256 verifier of %d to %d iterations"
            .formatted(Scram.MIN_ITERATIONS, Scram.MAX_ITERATIONS));
  }

  /// Whether the password is the one; takes as long whether it is or not.
  public boolean matches(char[] password) {
    ScramVerifier same = of(password, salt, iterations);
    return java.security.MessageDigest.isEqual(same.storedKey, storedKey);
  }

  /// The form of the file.
  public String format() {
    return "SCRAM-SHA-256$%d:%s$%s:%s"
        .formatted(
            iterations, Scram.base64(salt), Scram.base64(storedKey), Scram.base64(serverKey));
  }

  /// Iterations of the hash: the cost of one check of a password.
  public int iterations() {
    return iterations;
  }

  byte[] salt() {
    return salt;
  }

  byte[] storedKey() {
    return storedKey;
  }

  byte[] serverKey() {
    return serverKey;
  }
}
