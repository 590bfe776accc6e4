package dev.kakehashi.engine.type.text;

import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.engine.type.SqlErrors;
import dev.kakehashi.protocol.ErrorCode;

/// Writes PostgreSQL's advanced regular expressions in RE2's syntax, with the classes of the "C" locale.
///
/// Elements that RE2 has no counterpart for are refused: back references, look-around, the word boundaries `\m` and `\M`, collating
/// elements. Letter case is folded here, because RE2 folds all of Unicode. Not thread-safe, for one pattern.
final class RegexTranslator {
  private static final int MAX_REPEAT = 255;

  /// As many as PostgreSQL makes of one.
  private static final int MAX_STATES = 100_000;

  private final int[] in;
  private final StringBuilder out = new StringBuilder();
  private int at;
  private int groups;

  /// Least number of states of the expression so far as an automaton: a repeated part counts as often as it may be repeated.
  private int states;

  private boolean ignoreCase;
  private boolean dotExcludesNewline;
  private boolean anchorsMatchLines;
  private boolean nonGreedy;

  RegexTranslator(String pattern, String flags) {
    in = pattern.codePoints().toArray();
    for (int i = 0; i < flags.length(); i++) {
      option(flags.charAt(i));
    }
  }

  /// One letter of regexp flags or of embedded options.
  private void option(char letter) {
    switch (letter) {
      case 'i' -> ignoreCase = true;
      case 'c' -> ignoreCase = false;
      case 'm', 'n' -> {
        dotExcludesNewline = true;
        anchorsMatchLines = true;
      }
      case 'p' -> {
        dotExcludesNewline = true;
        anchorsMatchLines = false;
      }
      case 'w' -> {
        dotExcludesNewline = false;
        anchorsMatchLines = true;
      }
      case 's' -> {
        dotExcludesNewline = false;
        anchorsMatchLines = false;
      }
      case 't' -> {}
      case 'b', 'e', 'q', 'x' ->
          throw SqlErrors.notSupported(
              "regular expression option \"" + letter + "\" is not supported");
      default ->
          throw SqlErrors.invalidParameter("invalid regular expression option: \"" + letter + "\"");
    }
  }

  /// Whether a quantifier prefers the shortest match.
  boolean hasNonGreedy() {
    return nonGreedy;
  }

  String translate() {
    if (startsWith("***=")) {
      for (at = 4; at < in.length; at++) {
        literal(in[at]);
      }
      return out.toString();
    }
    if (startsWith("***:")) {
      at = 4;
    } else if (startsWith("***")) {
      throw invalid("quantifier operand invalid");
    }
    if (at + 2 < in.length && in[at] == '(' && in[at + 1] == '?' && isLetter(in[at + 2])) {
      for (at += 2; at < in.length && in[at] != ')'; at++) {
        if (!isLetter(in[at])) {
          throw invalid("invalid embedded option");
        }
        embedded((char) in[at]);
      }
      if (at++ >= in.length) {
        throw invalid("invalid embedded option");
      }
    }
    alternatives(false);
    return out.toString();
  }

  private void embedded(char letter) {
    if ("bceimnpqstwx".indexOf(letter) < 0) {
      throw invalid("invalid embedded option");
    }
    option(letter);
  }

  private static boolean isLetter(int c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
  }

  private boolean startsWith(String prefix) {
    if (in.length < prefix.length()) {
      return false;
    }
    for (int i = 0; i < prefix.length(); i++) {
      if (in[i] != prefix.charAt(i)) {
        return false;
      }
    }
    return true;
  }

  private void alternatives(boolean inGroup) {
    // Whether the next thing can be repeated: nothing at the begin of a branch and no constraint
    // can.
    boolean repeatable = false;
    int before = states;
    while (at < in.length) {
      int c = in[at];
      if (c != '*' && c != '+' && c != '?' && c != '{') {
        before = states; // of what a quantifier behind it would repeat
        states++;
      }
      switch (c) {
        case '|' -> {
          out.append('|');
          at++;
          repeatable = false;
        }
        case ')' -> {
          if (!inGroup) {
            throw invalid("parentheses () not balanced");
          }
          return;
        }
        case '(' -> {
          group();
          repeatable = true;
        }
        case '[' -> {
          out.append(new RegexBracket(in, at, ignoreCase, dotExcludesNewline).translate());
          at = RegexBracket.end(in, at);
          repeatable = true;
        }
        case '.' -> {
          out.append(dotExcludesNewline ? "[^\\n]" : "(?s:.)");
          at++;
          repeatable = true;
        }
        case '^', '$' -> {
          anchor(c);
          at++;
          repeatable = false;
        }
        case '*', '+', '?' -> {
          quantify(repeatable, before);
          repeatable = false;
        }
        case '{' -> {
          if (at + 1 < in.length && isDigit(in[at + 1])) {
            quantify(repeatable, before);
            repeatable = false;
          } else {
            before = states++;
            literal(c);
            at++;
            repeatable = true;
          }
        }
        case '\\' -> repeatable = escape();
        default -> {
          literal(c);
          at++;
          repeatable = true;
        }
      }
    }
    if (inGroup) {
      throw invalid("parentheses () not balanced");
    }
  }

  private void anchor(int c) {
    if (anchorsMatchLines) {
      out.append(c == '^' ? "(?m:^)" : "(?m:$)");
    } else {
      out.append(c == '^' ? "\\A" : "\\z");
    }
  }

  private void group() {
    at++;
    if (at < in.length && in[at] == '?') {
      if (at + 1 >= in.length) {
        throw invalid("quantifier operand invalid");
      }
      switch (in[at + 1]) {
        case ':' -> out.append("(?:");
        case '=', '!', '<' ->
            throw SqlErrors.notSupported("look-around in regular expressions is not supported");
        default -> throw invalid("quantifier operand invalid");
      }
      at += 2;
    } else {
      groups++;
      out.append('(');
    }
    alternatives(true);
    out.append(')');
    at++;
  }

  int groups() {
    return groups;
  }

  private static boolean isDigit(int c) {
    return c >= '0' && c <= '9';
  }

  /// Least number of the automaton's states.
  int states() {
    return states;
  }

  /// @param before states before the part that is repeated
  private void quantify(boolean repeatable, int before) {
    if (!repeatable) {
      throw invalid("quantifier operand invalid");
    }
    int c = in[at++];
    if (c == '{') {
      int low = count();
      int high = low;
      boolean open = false;
      if (at < in.length && in[at] == ',') {
        at++;
        open = at < in.length && in[at] == '}';
        high = open ? low : count();
      }
      if (at >= in.length || in[at] != '}' || high < low) {
        throw invalid("invalid repetition count(s)");
      }
      at++;
      repeat(before, Math.max(high, low + 1));
      out.append('{').append(low);
      if (open) {
        out.append(',');
      } else if (high != low) {
        out.append(',').append(high);
      }
      out.append('}');
    } else {
      out.append((char) c);
    }
    if (at < in.length && in[at] == '?') {
      nonGreedy = true;
      out.append('?');
      at++;
    }
  }

  private void repeat(int before, int times) {
    long repeated = before + (long) (states - before) * Math.max(times, 1);
    if (repeated > MAX_STATES) {
      throw invalid("regular expression is too complex");
    }
    states = (int) repeated;
  }

  private int count() {
    int begin = at;
    int value = 0;
    while (at < in.length && isDigit(in[at])) {
      value = value * 10 + in[at++] - '0';
      if (value > MAX_REPEAT) {
        throw invalid("invalid repetition count(s)");
      }
    }
    if (at == begin) {
      throw invalid("invalid repetition count(s)");
    }
    return value;
  }

  /// @return whether it may be repeated
  private boolean escape() {
    if (at + 1 >= in.length) {
      throw invalid("invalid escape \\ sequence");
    }
    int c = in[at + 1];
    String set = RegexBracket.classEscape(c);
    if (set != null) {
      at += 2;
      boolean negated = c < 'a';
      out.append(negated ? "[^" : "[").append(set).append(']');
      return true;
    }
    switch (c) {
      case 'A' -> out.append("\\A");
      case 'Z' -> out.append("\\z");
      case 'y' -> out.append("\\b");
      case 'Y' -> out.append("\\B");
      case 'm', 'M' ->
          throw SqlErrors.notSupported(
              "\\" + (char) c + " in regular expressions is not supported");
      default -> {
        if (c >= '1' && c <= '9') {
          throw SqlErrors.notSupported("back references in regular expressions are not supported");
        }
        RegexEscape character = RegexEscape.read(in, at);
        at = character.end();
        literal(character.codePoint());
        return true;
      }
    }
    at += 2;
    return false;
  }

  private void literal(int c) {
    if (ignoreCase && isLetter(c)) {
      out.append('[').append((char) c).append((char) (c ^ 0x20)).append(']');
    } else {
      RegexEscape.append(out, c);
    }
  }

  static EngineException invalid(String what) {
    return new EngineException(
        ErrorCode.INVALID_REGULAR_EXPRESSION, "invalid regular expression: " + what);
  }
}
