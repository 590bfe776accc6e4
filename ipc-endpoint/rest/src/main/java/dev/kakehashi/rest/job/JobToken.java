package dev.kakehashi.rest.job;

import java.security.SecureRandom;
import java.util.HexFormat;

/// Names of jobs: 128 random bits as 32 lower-case hexadecimal digits. A token gives nothing to anybody but its user; all the same it is
/// never logged. Thread-safe.
final class JobToken {
  static final int CHARACTERS = 32;

  private static final SecureRandom RANDOM = new SecureRandom();

  private JobToken() {}

  static String make() {
    byte[] bits = new byte[CHARACTERS / 2];
    RANDOM.nextBytes(bits);
    return HexFormat.of().formatHex(bits);
  }

  /// Whether a text has the form of one. Asked before anything is looked up by it.
  static boolean isOne(String text) {
    if (text.length() != CHARACTERS) {
      return false;
    }
    for (int i = 0; i < CHARACTERS; i++) {
      char c = text.charAt(i);
      if ((c < '0' || c > '9') && (c < 'a' || c > 'f')) {
        return false;
      }
    }
    return true;
  }
}
