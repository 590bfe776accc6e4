package dev.kakehashi.engine.type.text;

import dev.kakehashi.engine.type.SqlErrors;
import org.jspecify.annotations.Nullable;

/// A bracket expression of PostgreSQL's regular expressions in RE2's syntax.
final class RegexBracket {
  private static final String SPACE = "\\t-\\r ";

  private final int[] in;
  private final boolean ignoreCase;
  private final boolean newlineSensitive;
  private final StringBuilder out = new StringBuilder();
  private int at;

  RegexBracket(int[] in, int at, boolean ignoreCase, boolean newlineSensitive) {
    this.in = in;
    this.at = at + 1;
    this.ignoreCase = ignoreCase;
    this.newlineSensitive = newlineSensitive;
  }

  /// Members of `\d`, `\s`, `\w` and their complements; null for other letters.
  static @Nullable String classEscape(int letter) {
    return switch (letter) {
      case 'd', 'D' -> "0-9";
      case 's', 'S' -> SPACE;
      case 'w', 'W' -> "0-9A-Za-z_";
      default -> null;
    };
  }

  /// Index behind the bracket expression that begins at an index.
  static int end(int[] in, int from) {
    RegexBracket bracket = new RegexBracket(in, from, false, false);
    bracket.translate();
    return bracket.at;
  }

  String translate() {
    boolean negated = at < in.length && in[at] == '^';
    if (negated) {
      at++;
    }
    out.append(negated ? "[^" : "[");
    boolean first = true;
    while (at < in.length && (in[at] != ']' || first)) {
      member();
      first = false;
    }
    if (at++ >= in.length) {
      throw RegexTranslator.invalid("brackets [] not balanced");
    }
    if (negated && newlineSensitive) {
      out.append("\\n");
    }
    return out.append(']').toString();
  }

  private void member() {
    if (in[at] == '[' && at + 1 < in.length && in[at + 1] == ':') {
      named();
      return;
    }
    if (in[at] == '\\' && at + 1 < in.length) {
      String set = classEscape(in[at + 1]);
      if (set != null) {
        if (in[at + 1] < 'a') {
          throw RegexTranslator.invalid("invalid escape \\ sequence");
        }
        out.append(set);
        at += 2;
        return;
      }
    }
    int low = character();
    int high = low;
    if (at + 1 < in.length && in[at] == '-' && in[at + 1] != ']') {
      at++;
      high = character();
      if (high < low) {
        throw RegexTranslator.invalid("invalid character range");
      }
    } else if (low == '-' && at < in.length && in[at] == '-') {
      throw RegexTranslator.invalid("invalid character range");
    }
    range(low, high);
    if (ignoreCase) {
      otherCase(low, high, 'a', 'z');
      otherCase(low, high, 'A', 'Z');
    }
  }

  private void otherCase(int low, int high, int first, int last) {
    int from = Math.max(low, first);
    int to = Math.min(high, last);
    if (from <= to) {
      range(from ^ 0x20, to ^ 0x20);
    }
  }

  private void range(int low, int high) {
    RegexEscape.append(out, low);
    if (high > low) {
      out.append('-');
      RegexEscape.append(out, high);
    }
  }

  private int character() {
    int c = in[at];
    if (c == '\\') {
      if (at + 1 >= in.length) {
        throw RegexTranslator.invalid("invalid escape \\ sequence");
      }
      RegexEscape escape = RegexEscape.read(in, at);
      at = escape.end();
      return escape.codePoint();
    }
    if (c == '[' && at + 1 < in.length && (in[at + 1] == '.' || in[at + 1] == '=')) {
      throw SqlErrors.notSupported("collating elements in regular expressions are not supported");
    }
    at++;
    return c;
  }

  private void named() {
    StringBuilder name = new StringBuilder();
    int i = at + 2;
    while (i < in.length && in[i] != ':') {
      name.appendCodePoint(in[i++]);
    }
    if (i + 1 >= in.length || in[i + 1] != ']') {
      throw RegexTranslator.invalid("brackets [] not balanced");
    }
    at = i + 2;
    switch (name.toString()) {
      case "lower", "upper" -> {
        if (ignoreCase) {
          out.append("A-Za-z");
        } else {
          out.append(name.toString().equals("lower") ? "a-z" : "A-Z");
        }
      }
      case "space" -> out.append(SPACE);
      case "word" -> out.append("0-9A-Za-z_");
      case "alpha", "digit", "alnum", "punct", "blank", "cntrl", "graph", "print", "xdigit" ->
          out.append("[:").append(name).append(":]");
      case "<", ">" ->
          throw SqlErrors.notSupported(
              "[[:" + name + ":]] in regular expressions is not supported");
      default -> throw RegexTranslator.invalid("invalid character class");
    }
  }
}
