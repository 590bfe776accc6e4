package dev.kakehashi.rest.header;

import dev.kakehashi.rest.problem.Problem;

/// Weights of what a client takes (RFC 9110, 12.4.2). Stateless.
final class Quality {
  private Quality() {}

  /// @throws Problem 400: it is none, from 0 to 1 with at most three digits behind the point
  static int thousandths(String text) {
    boolean isZero = text.startsWith("0");
    boolean isOne = text.startsWith("1");
    if ((isZero || isOne) && text.length() <= 5 && (text.length() == 1 || text.charAt(1) == '.')) {
      int fraction = 0;
      int scale = 100;
      for (int i = 2; i < text.length(); i++) {
        int digit = text.charAt(i) - '0';
        if (digit < 0 || digit > 9) {
          throw broken(text);
        }
        fraction += digit * scale;
        scale /= 10;
      }
      if (isZero || fraction == 0) {
        return isZero ? fraction : 1000;
      }
    }
    throw broken(text);
  }

  private static Problem broken(String text) {
    return Problem.badRequest("\"" + text + "\" is no weight from 0 to 1");
  }
}
