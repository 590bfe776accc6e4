package dev.kakehashi.rest.header;

import java.math.BigDecimal;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.Base64;

/// Reads keys and bare items of a structured field, from left to right. One thread.
final class BareReader {
  private static final int MAX_INTEGER_DIGITS = 15;
  private static final int MAX_WHOLE_DIGITS = 12;
  private static final int MAX_FRACTION_DIGITS = 3;
  private static final String TOKEN_CHARACTERS = ":/!#$%&'*+-.^_`|~";

  private final String text;
  private int at;

  BareReader(String text) {
    this.text = text;
  }

  boolean isAtEnd() {
    return at == text.length();
  }

  boolean isAt(char c) {
    return at < text.length() && text.charAt(at) == c;
  }

  boolean skipIf(char c) {
    boolean skips = isAt(c);
    at += skips ? 1 : 0;
    return skips;
  }

  void expect(char c) throws FieldException {
    if (!skipIf(c)) {
      throw failure("\"" + c + "\" is missing");
    }
  }

  void skipSpaces() {
    while (isAt(' ')) {
      at++;
    }
  }

  /// Spaces and tabs, which may stand around commas.
  void skipBlanks() {
    while (isAt(' ') || isAt('\t')) {
      at++;
    }
  }

  FieldException failure(String message) {
    return new FieldException(message, at);
  }

  String key() throws FieldException {
    int start = at;
    if (!isLower(peek()) && peek() != '*') {
      throw failure("a name in small letters is missing");
    }
    while (isLower(peek()) || isDigit(peek()) || isOneOf("_-.*", peek())) {
      at++;
    }
    return text.substring(start, at);
  }

  FieldValue.Bare bare() throws FieldException {
    int c = peek();
    if (c == '-' || isDigit(c)) {
      return number();
    }
    if (isLetter(c) || c == '*') {
      return token();
    }
    return switch (c) {
      case '"' -> string();
      case ':' -> bytes();
      case '?' -> bool();
      case '@' -> date();
      case '%' -> display();
      default -> throw failure("a value is missing");
    };
  }

  /// The character that comes; -1: the end.
  private int peek() {
    return at < text.length() ? text.charAt(at) : -1;
  }

  private static boolean isDigit(int c) {
    return c >= '0' && c <= '9';
  }

  private static boolean isLower(int c) {
    return c >= 'a' && c <= 'z';
  }

  private static boolean isLetter(int c) {
    return isLower(c) || (c >= 'A' && c <= 'Z');
  }

  private static boolean isOneOf(String characters, int c) {
    return c > 0 && characters.indexOf(c) >= 0;
  }

  private int skipDigits() {
    int start = at;
    while (isDigit(peek())) {
      at++;
    }
    return at - start;
  }

  private FieldValue.Bare number() throws FieldException {
    int start = at;
    skipIf('-');
    int whole = skipDigits();
    if (whole == 0) {
      throw failure("a digit is missing");
    }
    if (!skipIf('.')) {
      if (whole > MAX_INTEGER_DIGITS) {
        throw failure("the number is too long");
      }
      return new FieldValue.Int(Long.parseLong(text.substring(start, at)));
    }
    int fraction = skipDigits();
    if (whole > MAX_WHOLE_DIGITS || fraction == 0 || fraction > MAX_FRACTION_DIGITS) {
      throw failure("the number has too many digits, or none behind its point");
    }
    return new FieldValue.Decimal(new BigDecimal(text.substring(start, at)));
  }

  private FieldValue.Token token() {
    int start = at;
    while (isLetter(peek()) || isDigit(peek()) || isOneOf(TOKEN_CHARACTERS, peek())) {
      at++;
    }
    return new FieldValue.Token(text.substring(start, at));
  }

  private FieldValue.Text string() throws FieldException {
    expect('"');
    StringBuilder value = new StringBuilder();
    while (!skipIf('"')) {
      int c = next();
      if (c == '\\') {
        c = next();
        if (c != '"' && c != '\\') {
          throw failure("only quotes and backslashes are escaped");
        }
      }
      if (c < ' ' || c > '~') {
        throw failure("a string has printable ASCII alone");
      }
      value.append((char) c);
    }
    return new FieldValue.Text(value.toString());
  }

  private int next() throws FieldException {
    if (isAtEnd()) {
      throw failure("the string does not end");
    }
    return text.charAt(at++);
  }

  private FieldValue.Bytes bytes() throws FieldException {
    expect(':');
    int end = text.indexOf(':', at);
    if (end < 0) {
      throw failure("the byte sequence does not end");
    }
    try {
      byte[] value = Base64.getDecoder().decode(text.substring(at, end));
      at = end + 1;
      return new FieldValue.Bytes(value);
    } catch (IllegalArgumentException e) {
      throw failure("the byte sequence is not base64");
    }
  }

  private FieldValue.Bool bool() throws FieldException {
    expect('?');
    if (skipIf('1')) {
      return new FieldValue.Bool(true);
    }
    expect('0');
    return new FieldValue.Bool(false);
  }

  private FieldValue.Date date() throws FieldException {
    expect('@');
    if (!(peek() == '-' || isDigit(peek()))
        || !(number() instanceof FieldValue.Int(long seconds))) {
      throw failure("a date is a whole number");
    }
    return new FieldValue.Date(seconds);
  }

  private FieldValue.Display display() throws FieldException {
    expect('%');
    expect('"');
    ByteBuffer bytes = ByteBuffer.allocate(text.length());
    while (!skipIf('"')) {
      int c = next();
      if (c < ' ' || c > '~') {
        throw failure("a string has printable ASCII alone");
      }
      bytes.put((byte) (c == '%' ? lowerHex(next()) << 4 | lowerHex(next()) : c));
    }
    try {
      return new FieldValue.Display(
          StandardCharsets.UTF_8.newDecoder().decode(bytes.flip()).toString());
    } catch (CharacterCodingException e) {
      throw failure("the string is not UTF-8");
    }
  }

  private int lowerHex(int c) throws FieldException {
    if (isDigit(c)) {
      return c - '0';
    }
    if (c >= 'a' && c <= 'f') {
      return c - 'a' + 10;
    }
    throw failure("an escape has two hexadecimal digits in small letters");
  }
}
