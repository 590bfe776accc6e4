package dev.kakehashi.benchmarks.rest;

import java.nio.charset.StandardCharsets;

/// A request with a number that changes from one to the next, in bytes that stay. Not thread-safe.
final class Template {
  /// What stands for the number: as many characters as it may have; JSON ignores the blanks in front.
  static final String NUMBER = "############";

  private final byte[] bytes;
  private final int from;

  Template(byte[] request) {
    bytes = request.clone();
    from = new String(bytes, StandardCharsets.ISO_8859_1).indexOf(NUMBER);
  }

  /// The request with a number that is not negative, until the next call.
  byte[] with(long number) {
    long rest = number;
    for (int i = from + NUMBER.length() - 1; i >= from; i--) {
      bytes[i] = rest == 0 && number != 0 ? (byte) ' ' : (byte) ('0' + rest % 10);
      rest /= 10;
    }
    if (number == 0) {
      for (int i = from; i < from + NUMBER.length() - 1; i++) {
        bytes[i] = ' ';
      }
    }
    return bytes;
  }
}
