package dev.kakehashi.rest.job.http;

/// Entity tags in the fields of requests (RFC 9110, 8.8.3 and 13.1). Stateless.
final class EntityTags {
  private EntityTags() {}

  /// Whether a list of tags names one.
  ///
  /// @param tag strong, with its quotes
  /// @param takesWeak whether a weak tag of the same text will do
  static boolean contains(String field, String tag, boolean takesWeak) {
    int at = 0;
    while (at < field.length()) {
      char c = field.charAt(at);
      if (c == ',' || c == ' ' || c == '\t') {
        at++;
        continue;
      }
      boolean isWeak = field.startsWith("W/", at);
      int begin = isWeak ? at + 2 : at;
      if (begin < field.length() && field.charAt(begin) == '*') {
        return !isWeak;
      }
      if (begin >= field.length() || field.charAt(begin) != '"') {
        return false;
      }
      int end = field.indexOf('"', begin + 1);
      if (end < 0) {
        return false;
      }
      if (field.substring(begin, end + 1).equals(tag) && (takesWeak || !isWeak)) {
        return true;
      }
      at = end + 1;
    }
    return false;
  }
}
