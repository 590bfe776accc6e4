package dev.kakehashi.valuetext;

/// Spaces around values: the characters of C's isspace(), which are fewer than those that Java knows.
public final class Spaces {
  private Spaces() {}

  /// @param c a character, or a byte of UTF-8
  public static boolean isSpace(int c) {
    return c == ' ' || (c >= '\t' && c <= '\r');
  }

  /// Without the spaces at both ends.
  public static String trim(String text) {
    int begin = 0;
    int end = text.length();
    while (begin < end && isSpace(text.charAt(begin))) {
      begin++;
    }
    while (end > begin && isSpace(text.charAt(end - 1))) {
      end--;
    }
    return text.substring(begin, end);
  }
}
