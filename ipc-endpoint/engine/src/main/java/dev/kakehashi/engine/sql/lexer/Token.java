package dev.kakehashi.engine.sql.lexer;

/// A lexical element.
///
/// @param kind what it is
/// @param text an identifier (folded to lower case unless quoted), operator or number as written, a string's value, a parameter's number
/// @param start offset of its first character in the statement
/// @param end offset after its last character
public record Token(Kind kind, String text, int start, int end) {
  public enum Kind {
    WORD,
    QUOTED_WORD,
    STRING,
    NUMBER,
    PARAMETER,
    OPERATOR,
    END
  }

  public boolean isWord(String word) {
    return kind == Kind.WORD && text.equals(word);
  }

  public boolean isOperator(String operator) {
    return kind == Kind.OPERATOR && text.equals(operator);
  }

  public boolean isIdentifier() {
    return kind == Kind.WORD || kind == Kind.QUOTED_WORD;
  }
}
