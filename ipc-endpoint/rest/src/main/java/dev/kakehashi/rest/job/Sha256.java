package dev.kakehashi.rest.job;

import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;

/// SHA-256, which each Java has.
final class Sha256 {
  static final int BYTES = 32;

  private Sha256() {}

  static MessageDigest begin() {
    try {
      return MessageDigest.getInstance("SHA-256");
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("this Java has no SHA-256", e);
    }
  }
}
