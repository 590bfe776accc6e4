package dev.kakehashi.rest.login;

import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Arrays;

/// SHA-256 of a secret, as which it is kept and looked up: neither memory nor the time of a comparison tells the secret.
record SecretDigest(byte[] bytes) {
  static SecretDigest of(byte[] salt, String secret) {
    try {
      MessageDigest digest = MessageDigest.getInstance("SHA-256");
      digest.update(salt);
      return new SecretDigest(digest.digest(secret.getBytes(StandardCharsets.UTF_8)));
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("each Java has SHA-256", e);
    }
  }

  @Override
  public boolean equals(Object other) {
    return other instanceof SecretDigest(byte[] others) && MessageDigest.isEqual(bytes, others);
  }

  @Override
  public int hashCode() {
    return Arrays.hashCode(bytes);
  }
}
