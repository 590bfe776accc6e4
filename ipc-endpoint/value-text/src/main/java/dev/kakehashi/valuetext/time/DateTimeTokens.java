package dev.kakehashi.valuetext.time;

import dev.kakehashi.valuetext.Spaces;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/// Splits the text of a date, a time or an interval into tokens, as PostgreSQL's `ParseDateTime()` does. Blanks and punctuation that means
/// nothing separate tokens.
final class DateTimeTokens {
  /// Form of a token.
  enum Kind {
    /// Digits, perhaps with one decimal point.
    NUMBER,
    /// Numbers or words joined by `-`, `/` or `.`: a date, or the name of a time zone.
    DATE,
    /// Digits with a colon among them.
    TIME,
    /// A sign and what begins with a digit: an offset from UTC, or a number.
    SIGNED_NUMBER,
    /// Letters.
    WORD,
    /// A sign and letters.
    SIGNED_WORD
  }

  /// @param text letters are small ones
  record Token(Kind kind, String text) {
    boolean isWord() {
      return kind == Kind.WORD || kind == Kind.SIGNED_WORD;
    }
  }

  private static final int MAX_TOKENS = 25;

  private final String text;
  private final List<Token> tokens = new ArrayList<>();
  private int at;

  private DateTimeTokens(String text) {
    this.text = text;
  }

  /// Null: the text cannot be split.
  static @Nullable List<Token> split(String text) {
    DateTimeTokens tokens = new DateTimeTokens(text);
    return tokens.read() ? tokens.tokens : null;
  }

  private boolean read() {
    while (at < text.length()) {
      char c = text.charAt(at);
      if (Spaces.isSpace(c)) {
        at++;
      } else if (isDigit(c) || c == '.' || isLetter(c) || c == '+' || c == '-') {
        if (tokens.size() == MAX_TOKENS || !token(c)) {
          return false;
        }
      } else if (c > ' ' && c < 0x7F) {
        at++;
      } else {
        return false;
      }
    }
    return true;
  }

  private boolean token(char first) {
    int start = at;
    if (isDigit(first)) {
      add(number(), start);
    } else if (first == '.') {
      at++;
      digits();
      add(Kind.NUMBER, start);
    } else if (isLetter(first)) {
      add(word(), start);
    } else {
      return signed(first);
    }
    return true;
  }

  private Kind number() {
    digits();
    char delimiter = peek();
    if (delimiter == ':') {
      while (isDigit(peek()) || peek() == ':' || peek() == '.') {
        at++;
      }
      return Kind.TIME;
    }
    if (delimiter != '-' && delimiter != '/' && delimiter != '.') {
      return Kind.NUMBER;
    }
    at++;
    if (!isDigit(peek())) {
      // A month in letters, as in 8-Jan-1999.
      while (isDigit(peek()) || isLetter(peek()) || peek() == delimiter) {
        at++;
      }
      return Kind.DATE;
    }
    digits();
    if (peek() != delimiter) {
      return delimiter == '.' ? Kind.NUMBER : Kind.DATE;
    }
    while (isDigit(peek()) || peek() == delimiter) {
      at++;
    }
    return Kind.DATE;
  }

  private Kind word() {
    int start = at;
    letters();
    char next = peek();
    boolean joined =
        next == '-'
            || next == '/'
            || next == '.'
            || ((next == '+' || isDigit(next))
                && DateTimeWord.find(text.substring(start, at).toLowerCase(Locale.ROOT)) == null);
    if (!joined) {
      return Kind.WORD;
    }
    while (isDigit(peek()) || isLetter(peek()) || "+-/_.:".indexOf(peek()) >= 0) {
      at++;
    }
    return Kind.DATE;
  }

  private boolean signed(char sign) {
    at++;
    while (Spaces.isSpace(peek())) {
      at++;
    }
    int start = at;
    Kind kind;
    if (isDigit(peek())) {
      while (isDigit(peek()) || ":.-".indexOf(peek()) >= 0) {
        at++;
      }
      kind = Kind.SIGNED_NUMBER;
    } else if (isLetter(peek())) {
      letters();
      kind = Kind.SIGNED_WORD;
    } else {
      return false;
    }
    tokens.add(new Token(kind, sign + text.substring(start, at).toLowerCase(Locale.ROOT)));
    return true;
  }

  private void add(Kind kind, int start) {
    tokens.add(new Token(kind, text.substring(start, at).toLowerCase(Locale.ROOT)));
  }

  private void digits() {
    at = endOfDigits(text, at);
  }

  private void letters() {
    while (isLetter(peek())) {
      at++;
    }
  }

  /// NUL at the end: no text has one.
  private char peek() {
    return at < text.length() ? text.charAt(at) : 0;
  }

  /// Where the digits end that begin at a place, if any do.
  static int endOfDigits(String text, int start) {
    int end = start;
    while (end < text.length() && isDigit(text.charAt(end))) {
      end++;
    }
    return end;
  }

  /// A point and digits as a number less than 1; both may be missing. Negative: the text is something else.
  static double fraction(String text) {
    if (text.isEmpty() || text.equals(".")) {
      return 0;
    }
    boolean isFraction = text.charAt(0) == '.' && endOfDigits(text, 1) == text.length();
    return isFraction ? Double.parseDouble(text) : -1;
  }

  static boolean isDigit(char c) {
    return c >= '0' && c <= '9';
  }

  private static boolean isLetter(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
  }
}
