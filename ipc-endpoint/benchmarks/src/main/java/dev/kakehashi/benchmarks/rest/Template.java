package dev.kakehashi.benchmarks.rest;

import java.nio.charset.StandardCharsets;

/// A request with a number that changes from one to the next, in bytes that stay. Not thread-safe.
public final class Template {
  /// Placeholder of the number: as many characters as the number may have.
  public static final String NUMBER = "############";

  private final byte[] bytes;
  private final int from;
  private final byte padding;

  /// With blanks in front of the number, which JSON ignores.
  Template(byte[] request) {
    this(request, ' ');
  }

  /// @param padding in front of the number
  public Template(byte[] request, char padding) {
    this.padding = (byte) padding;
    bytes = request.clone();
    from = new String(bytes, StandardCharsets.ISO_8859_1).indexOf(NUMBER);
  }

  /// The request with a number that is not negative, until the next call.
  public byte[] with(long number) {
    long rest = number;
    for (int i = from + NUMBER.length() - 1; i >= from; i--) {
      bytes[i] = rest == 0 && number != 0 ? padding : (byte) ('0' + rest % 10);
      rest /= 10;
    }
    if (number == 0) {
      for (int i = from; i < from + NUMBER.length() - 1; i++) {
        bytes[i] = padding;
      }
    }
    return bytes;
  }
}
