package dev.kakehashi.engine.catalog;

import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;

/// The name of a jar in the store.
public final class JarDigest {
  private JarDigest() {}

  /// 64 hexadecimal digits, lower case.
  public static String of(byte[] bytes) {
    try {
      return HexFormat.of().formatHex(MessageDigest.getInstance("SHA-256").digest(bytes));
    } catch (NoSuchAlgorithmException impossible) {
      throw new IllegalStateException(impossible); // each Java platform has it
    }
  }
}
