package dev.kakehashi.protocol.authentication;

import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.security.SecureRandom;
import java.util.Arrays;
import java.util.Base64;
import java.util.function.BooleanSupplier;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

/// Computations of both sides of SCRAM-SHA-256.
final class Scram {
  static final int KEY_BYTES = 32;
  static final int MAX_SALT_BYTES = 256;

  /// RFC 7677 asks for so many at least; with fewer the password could be guessed from the exchange.
  static final int MIN_ITERATIONS = 4096;

  /// Some seconds of work; an endpoint that asks for more is refused.
  static final int MAX_ITERATIONS = 1_000_000;

  /// "n": no channel binding.
  static final String BINDING = "n,,";

  private static final int NONCE_BYTES = 18;
  private static final int ITERATIONS_PER_LOOK = 1024;
  private static final SecureRandom RANDOM = new SecureRandom();

  private Scram() {}

  static byte[] random(int bytes) {
    byte[] random = new byte[bytes];
    RANDOM.nextBytes(random);
    return random;
  }

  static String nonce() {
    return base64(random(NONCE_BYTES));
  }

  static String base64(byte[] bytes) {
    return Base64.getEncoder().encodeToString(bytes);
  }

  /// @throws ScramException when it is no base64
  static byte[] base64(String text, String what) {
    try {
      return Base64.getDecoder().decode(text);
    } catch (IllegalArgumentException e) {
      throw ScramException.malformed(what);
    }
  }

  /// Text as a value of an attribute.
  static String escape(String name) {
    return name.replace("=", "=3D").replace(",", "=2C");
  }

  /// Values of the attributes with these names, which a message begins with in this order.
  ///
  /// @throws ScramException when one is not there
  static String[] attributes(String message, String names) {
    String[] parts = message.split(",", -1);
    String[] values = new String[names.length()];
    for (int i = 0; i < values.length; i++) {
      if (i >= parts.length || !parts[i].startsWith(names.charAt(i) + "=")) {
        throw ScramException.malformed("\"" + names.charAt(i) + "\" is missing");
      }
      values[i] = parts[i].substring(2);
    }
    return values;
  }

  /// PBKDF2 of one block.
  ///
  /// @param password prepared
  /// @param late asked now and then whether there is no time left
  /// @throws ScramException when there is none
  static byte[] salted(byte[] password, byte[] salt, int iterations, BooleanSupplier late) {
    // A key that is empty is as good as a zero to HMAC, and refused by the platform.
    Mac mac = mac(password.length == 0 ? new byte[1] : password);
    mac.update(salt);
    byte[] last = mac.doFinal(new byte[] {0, 0, 0, 1});
    byte[] sum = last.clone();
    for (int i = 1; i < iterations; i++) {
      last = mac.doFinal(last);
      for (int k = 0; k < sum.length; k++) {
        sum[k] ^= last[k];
      }
      if (i % ITERATIONS_PER_LOOK == 0 && late.getAsBoolean()) {
        Arrays.fill(sum, (byte) 0);
        throw new ScramException(
            ScramException.Reason.TIMED_OUT, "the password could not be proved in time");
      }
    }
    return sum;
  }

  private static Mac mac(byte[] key) {
    try {
      Mac mac = Mac.getInstance("HmacSHA256");
      mac.init(new SecretKeySpec(key, "HmacSHA256"));
      return mac;
    } catch (GeneralSecurityException e) {
      throw new IllegalStateException(e); // part of every Java platform
    }
  }

  static byte[] hmac(byte[] key, String text) {
    return mac(key).doFinal(text.getBytes(StandardCharsets.UTF_8));
  }

  static byte[] sha256(byte[] bytes) {
    try {
      return MessageDigest.getInstance("SHA-256").digest(bytes);
    } catch (GeneralSecurityException e) {
      throw new IllegalStateException(e);
    }
  }

  static byte[] xor(byte[] one, byte[] other) {
    byte[] both = one.clone();
    for (int i = 0; i < both.length; i++) {
      both[i] ^= other[i];
    }
    return both;
  }
}
