package dev.kakehashi.server;

import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.security.SecureRandom;
import java.util.Base64;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import javax.crypto.Mac;
import javax.crypto.SecretKeyFactory;
import javax.crypto.spec.PBEKeySpec;
import javax.crypto.spec.SecretKeySpec;

/// A salted hash of a password from which the password cannot be found, in the form that PostgreSQL keeps in `pg_authid`
/// (RFC 5803): `SCRAM-SHA-256$iterations:salt$StoredKey:ServerKey`.
final class ScramVerifier {
  private static final int ITERATIONS = 4096; // as PostgreSQL
  private static final int SALT_BYTES = 16;
  private static final int KEY_BYTES = 32;
  private static final int MAX_ITERATIONS = 1_000_000;
  private static final Pattern FORM =
      Pattern.compile(
          "SCRAM-SHA-256\\$(\\d{1,7}):([A-Za-z0-9+/=]+)\\$([A-Za-z0-9+/=]+):([A-Za-z0-9+/=]+)");

  private final int iterations;
  private final byte[] salt;
  private final byte[] storedKey; // hash of the client key of RFC 5802

  /// Unused here; kept so that a verifier can be carried over from and to PostgreSQL.
  private final byte[] serverKey;

  private ScramVerifier(int iterations, byte[] salt, byte[] storedKey, byte[] serverKey) {
    this.iterations = iterations;
    this.salt = salt;
    this.storedKey = storedKey;
    this.serverKey = serverKey;
  }

  /// @param password not empty
  static ScramVerifier of(char[] password) {
    byte[] salt = new byte[SALT_BYTES];
    new SecureRandom().nextBytes(salt);
    byte[] salted = salted(password, salt, ITERATIONS);
    return new ScramVerifier(
        ITERATIONS, salt, sha256(hmac(salted, "Client Key")), hmac(salted, "Server Key"));
  }

  /// @throws IllegalArgumentException when it has another form
  static ScramVerifier parse(String text) {
    Matcher matcher = FORM.matcher(text);
    if (!matcher.matches()) {
      throw new IllegalArgumentException("not a SCRAM-SHA-256 verifier");
    }
    int iterations = Integer.parseInt(matcher.group(1));
    Base64.Decoder base64 = Base64.getDecoder();
    byte[] storedKey = base64.decode(matcher.group(3));
    if (iterations < 1 || iterations > MAX_ITERATIONS || storedKey.length != KEY_BYTES) {
      throw new IllegalArgumentException("not a SCRAM-SHA-256 verifier");
    }
    return new ScramVerifier(
        iterations, base64.decode(matcher.group(2)), storedKey, base64.decode(matcher.group(4)));
  }

  /// Whether the password is the one; takes as long whether it is or not.
  boolean matches(char[] password) {
    byte[] clientKey = hmac(salted(password, salt, iterations), "Client Key");
    return MessageDigest.isEqual(sha256(clientKey), storedKey);
  }

  /// The form of the file.
  String format() {
    Base64.Encoder base64 = Base64.getEncoder();
    return "SCRAM-SHA-256$%d:%s$%s:%s"
        .formatted(
            iterations,
            base64.encodeToString(salt),
            base64.encodeToString(storedKey),
            base64.encodeToString(serverKey));
  }

  private static byte[] salted(char[] password, byte[] salt, int iterations) {
    PBEKeySpec key = new PBEKeySpec(password, salt, iterations, KEY_BYTES * Byte.SIZE);
    try {
      return SecretKeyFactory.getInstance("PBKDF2WithHmacSHA256").generateSecret(key).getEncoded();
    } catch (GeneralSecurityException e) {
      throw new IllegalStateException(e); // part of every Java platform
    } finally {
      key.clearPassword();
    }
  }

  private static byte[] hmac(byte[] key, String text) {
    try {
      Mac mac = Mac.getInstance("HmacSHA256");
      mac.init(new SecretKeySpec(key, "HmacSHA256"));
      return mac.doFinal(text.getBytes(StandardCharsets.US_ASCII));
    } catch (GeneralSecurityException e) {
      throw new IllegalStateException(e);
    }
  }

  private static byte[] sha256(byte[] bytes) {
    try {
      return MessageDigest.getInstance("SHA-256").digest(bytes);
    } catch (GeneralSecurityException e) {
      throw new IllegalStateException(e);
    }
  }
}
