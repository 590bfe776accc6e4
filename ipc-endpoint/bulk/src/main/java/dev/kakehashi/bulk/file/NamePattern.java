package dev.kakehashi.bulk.file;

/// A pattern of one name, as a shell has it: `*`, `?`, `[a-z]`, `[!a-z]`. Names that begin with a dot match only a pattern that does.
/// Immutable.
final class NamePattern {
  private final int[] pattern;

  NamePattern(String text) {
    pattern = text.codePoints().toArray();
  }

  /// Whether a name is a pattern.
  static boolean isOne(String name) {
    return name.indexOf('*') >= 0 || name.indexOf('?') >= 0 || name.indexOf('[') >= 0;
  }

  boolean matches(String name) {
    if (name.startsWith(".") && (pattern.length == 0 || pattern[0] != '.')) {
      return false;
    }
    int[] text = name.codePoints().toArray();
    // Going back to the last star alone is enough, so the time is at most the product of both
    // lengths.
    int star = -1;
    int starText = 0;
    int at = 0;
    int in = 0;
    while (in < text.length) {
      int next = at < pattern.length && pattern[at] != '*' ? matchOne(at, text[in]) : -1;
      if (next >= 0) {
        at = next;
        in++;
      } else if (at < pattern.length && pattern[at] == '*') {
        star = ++at;
        starText = in;
      } else if (star >= 0) {
        at = star;
        in = ++starText;
      } else {
        return false;
      }
    }
    while (at < pattern.length && pattern[at] == '*') {
      at++;
    }
    return at == pattern.length;
  }

  /// Where the pattern goes on after one character; -1: it does not match.
  private int matchOne(int at, int c) {
    if (pattern[at] == '?') {
      return at + 1;
    }
    if (pattern[at] == '[') {
      int end = setEnd(at);
      if (end > 0) {
        return isInSet(at, end, c) ? end + 1 : -1;
      }
    }
    return pattern[at] == c ? at + 1 : -1;
  }

  /// Index of the bracket that closes a set; -1: it is a plain character.
  private int setEnd(int at) {
    int from = at + 1;
    if (from < pattern.length && (pattern[from] == '!' || pattern[from] == '^')) {
      from++;
    }
    // A bracket that comes first is a member.
    for (int i = from + 1; i < pattern.length; i++) {
      if (pattern[i] == ']') {
        return i;
      }
    }
    return -1;
  }

  private boolean isInSet(int at, int end, int c) {
    int from = at + 1;
    boolean isNegated = pattern[from] == '!' || pattern[from] == '^';
    if (isNegated) {
      from++;
    }
    boolean isIn = false;
    for (int i = from; i < end; i++) {
      if (i + 2 < end && pattern[i + 1] == '-') {
        isIn |= pattern[i] <= c && c <= pattern[i + 2];
        i += 2;
      } else {
        isIn |= pattern[i] == c;
      }
    }
    return isIn != isNegated;
  }
}
