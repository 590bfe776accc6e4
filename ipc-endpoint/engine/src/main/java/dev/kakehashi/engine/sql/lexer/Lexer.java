package dev.kakehashi.engine.sql.lexer;

import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.engine.vector.Interrupts;
import dev.kakehashi.protocol.ErrorCode;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.function.Supplier;

/// Splits a statement into tokens by PostgreSQL's lexical rules (with `standard_conforming_strings`).
public final class Lexer {
  private static final String OPERATOR_CHARACTERS = "+-*/<>=~!@#%^&|`?";

  private final String sql;
  private final List<Token> tokens = new ArrayList<>();
  private int at;

  private Lexer(String sql) {
    this.sql = sql;
  }

  /// Tokens of `sql`, the last one of kind END.
  ///
  /// @throws EngineException SYNTAX_ERROR with the position, CHARACTER_NOT_IN_REPERTOIRE
  public static List<Token> tokenize(String sql) {
    if (sql.indexOf('\0') >= 0) {
      throw new EngineException(
          ErrorCode.CHARACTER_NOT_IN_REPERTOIRE,
          "invalid byte sequence for encoding \"UTF8\": 0x00");
    }
    Lexer lexer = new Lexer(sql);
    lexer.run();
    return lexer.tokens;
  }

  private void run() {
    while (true) {
      Interrupts.check();
      skipBlanks();
      if (at >= sql.length()) {
        tokens.add(new Token(Token.Kind.END, "", sql.length(), sql.length()));
        return;
      }
      next();
    }
  }

  private void next() {
    int start = at;
    char c = sql.charAt(at);
    if (c == '\'') {
      add(Token.Kind.STRING, continued(() -> quoted('\'', "string")), start);
    } else if ((c == 'e' || c == 'E') && peek(1) == '\'') {
      at++;
      add(Token.Kind.STRING, continued(this::escapeString), start);
    } else if (c == '"') {
      String name = quoted('"', "identifier");
      if (name.isEmpty()) {
        throw error("zero-length delimited identifier", start);
      }
      add(Token.Kind.QUOTED_WORD, name, start);
    } else if (Character.isDigit(c) || (c == '.' && Character.isDigit(peek(1)))) {
      number(start);
    } else if (c == '$' && Character.isDigit(peek(1))) {
      at++;
      while (Character.isDigit(peek(0))) {
        at++;
      }
      add(Token.Kind.PARAMETER, sql.substring(start + 1, at), start);
    } else if (c == '$' && dollarString(start)) {
      return;
    } else if (isWordStart(c)) {
      while (at < sql.length() && isWordPart(sql.charAt(at))) {
        at++;
      }
      add(Token.Kind.WORD, sql.substring(start, at).toLowerCase(Locale.ROOT), start);
    } else {
      operator(start, c);
    }
  }

  private void number(int start) {
    while (Character.isDigit(peek(0))) {
      at++;
    }
    if (peek(0) == '.' && peek(1) != '.') {
      at++;
      while (Character.isDigit(peek(0))) {
        at++;
      }
    }
    if (peek(0) == 'e' || peek(0) == 'E') {
      int sign = peek(1) == '+' || peek(1) == '-' ? 1 : 0;
      if (Character.isDigit(peek(1 + sign))) {
        at += 1 + sign;
        while (Character.isDigit(peek(0))) {
          at++;
        }
      }
    }
    if (at < sql.length() && isWordStart(sql.charAt(at))) {
      throw error(
          "trailing junk after numeric literal at or near \"" + sql.substring(start, at + 1) + "\"",
          start);
    }
    add(Token.Kind.NUMBER, sql.substring(start, at), start);
  }

  private void operator(int start, char c) {
    if (OPERATOR_CHARACTERS.indexOf(c) >= 0) {
      while (at < sql.length()
          && OPERATOR_CHARACTERS.indexOf(sql.charAt(at)) >= 0
          && !startsComment()) {
        at++;
      }
      // As in PostgreSQL an operator ends in + or - only if it has one of ~ ! @ # % ^ & | ` ?.
      while (at - start > 1
          && (sql.charAt(at - 1) == '-' || sql.charAt(at - 1) == '+')
          && sql.substring(start, at).chars().noneMatch(x -> "~!@#%^&|`?".indexOf(x) >= 0)) {
        at--;
      }
    } else if (c == ':' && (peek(1) == ':' || peek(1) == '=')) {
      at += 2;
    } else if ("(),.;:[]".indexOf(c) >= 0) {
      at++;
    } else {
      throw error("syntax error at or near \"" + c + "\"", start);
    }
    add(Token.Kind.OPERATOR, sql.substring(start, at), start);
  }

  private String quoted(char quote, String what) {
    int start = at++;
    StringBuilder value = new StringBuilder();
    while (true) {
      if (at >= sql.length()) {
        throw error(
            "unterminated quoted " + what + " at or near \"" + sql.substring(start) + "\"", start);
      }
      char c = sql.charAt(at++);
      if (c != quote) {
        value.append(c);
      } else if (peek(0) == quote) {
        value.append(quote);
        at++;
      } else {
        return value.toString();
      }
    }
  }

  /// A string with those that continue it: between them are blanks with a line break, and perhaps comments to the end of their line.
  private String continued(Supplier<String> part) {
    String value = part.get();
    for (int next = continuation(); next >= 0; next = continuation()) {
      at = next;
      value += part.get();
    }
    return value;
  }

  /// Where the quote is that continues a string which ends here; -1: nowhere.
  private int continuation() {
    boolean lineBreak = false;
    for (int next = at; next < sql.length(); next++) {
      char c = sql.charAt(next);
      if (c == '\n' || c == '\r') {
        lineBreak = true;
      } else if (sql.startsWith("--", next)) {
        int newline = sql.indexOf('\n', next);
        if (newline < 0) {
          return -1;
        }
        next = newline - 1;
      } else if (!Character.isWhitespace(c)) {
        return lineBreak && c == '\'' ? next : -1;
      }
    }
    return -1;
  }

  private String escapeString() {
    EscapeString string = new EscapeString(sql, at);
    String value = string.read();
    at = string.end();
    return value;
  }

  private boolean dollarString(int start) {
    int close = sql.indexOf('$', start + 1);
    if (close < 0 || !sql.substring(start + 1, close).chars().allMatch(x -> isWordPart((char) x))) {
      return false;
    }
    String tag = sql.substring(start, close + 1);
    int end = sql.indexOf(tag, close + 1);
    if (end < 0) {
      throw error(
          "unterminated dollar-quoted string at or near \"" + sql.substring(start) + "\"", start);
    }
    at = end + tag.length();
    add(Token.Kind.STRING, sql.substring(close + 1, end), start);
    return true;
  }

  private void skipBlanks() {
    while (at < sql.length()) {
      if (Character.isWhitespace(sql.charAt(at))) {
        at++;
      } else if (sql.startsWith("--", at)) {
        int newline = sql.indexOf('\n', at);
        at = newline < 0 ? sql.length() : newline;
      } else if (sql.startsWith("/*", at)) {
        skipBlockComment();
      } else {
        return;
      }
    }
  }

  private void skipBlockComment() {
    int start = at;
    int depth = 0;
    do {
      if (at >= sql.length()) {
        throw error("unterminated /* comment", start);
      }
      if (sql.startsWith("/*", at)) {
        depth++;
        at += 2;
      } else if (sql.startsWith("*/", at)) {
        depth--;
        at += 2;
      } else {
        at++;
      }
    } while (depth > 0);
  }

  private boolean startsComment() {
    return sql.startsWith("--", at) || sql.startsWith("/*", at);
  }

  private char peek(int ahead) {
    return at + ahead < sql.length() ? sql.charAt(at + ahead) : '\0';
  }

  private static boolean isWordStart(char c) {
    return Character.isLetter(c) || c == '_';
  }

  private static boolean isWordPart(char c) {
    return Character.isLetterOrDigit(c) || c == '_' || c == '$';
  }

  private void add(Token.Kind kind, String text, int start) {
    tokens.add(new Token(kind, text, start, at));
  }

  private EngineException error(String message, int start) {
    return new EngineException(ErrorCode.SYNTAX_ERROR, message).withPosition(start + 1);
  }
}
