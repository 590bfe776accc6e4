package dev.kakehashi.engine.sql.spelling;

import dev.kakehashi.engine.sql.lexer.Token;
import java.util.Set;

/// Roles of tokens in the expressions that they stand in: keywords, ends of operands, operators by PostgreSQL's precedence.
final class Operands {
  private static final Set<String> KEYWORDS =
      Set.of(
          "select",
          "distinct",
          "all",
          "from",
          "where",
          "group",
          "by",
          "having",
          "order",
          "asc",
          "desc",
          "nulls",
          "limit",
          "offset",
          "fetch",
          "union",
          "intersect",
          "except",
          "values",
          "as",
          "on",
          "using",
          "join",
          "inner",
          "left",
          "right",
          "full",
          "outer",
          "cross",
          "natural",
          "lateral",
          "case",
          "when",
          "then",
          "else",
          "end",
          "and",
          "or",
          "not",
          "in",
          "between",
          "symmetric",
          "asymmetric",
          "like",
          "ilike",
          "similar",
          "to",
          "escape",
          "is",
          "null",
          "true",
          "false",
          "unknown",
          "exists",
          "any",
          "some",
          "cast",
          "with",
          "recursive",
          "for",
          "both",
          "leading",
          "trailing",
          "over",
          "grouping",
          "sets",
          "rollup",
          "cube",
          "array",
          "placing");

  /// Keywords that end an operand.
  private static final Set<String> OPERAND_WORDS = Set.of("null", "true", "false", "end");

  /// Operators with a precedence of their own; all others are between `+` and the comparisons.
  private static final Set<String> TIGHT = Set.of("^", "*", "/", "%", "+", "-");

  private static final Set<String> COMPARISONS = Set.of("=", "<", ">", "<=", ">=", "<>", "!=");

  private static final Set<String> PUNCTUATION =
      Set.of("(", ")", "[", "]", ",", ".", ";", ":", "::", "=>", ":=");

  /// Keywords whose parenthesis is part of an operand.
  private static final Set<String> BEFORE_PARENTHESIS =
      Set.of("left", "right", "exists", "over", "grouping", "any", "some", "array");

  private Operands() {}

  static boolean isKeyword(String word) {
    return KEYWORDS.contains(word);
  }

  /// Whether an operator that follows the token has an operand on its left side.
  static boolean endsOperand(Token token) {
    return switch (token.kind()) {
      case OPERATOR -> token.isOperator(")") || token.isOperator("]");
      case WORD -> !KEYWORDS.contains(token.text()) || OPERAND_WORDS.contains(token.text());
      default -> true;
    };
  }

  /// Whether it is `^`, `*`, `/`, `%`, `+` or `-`.
  static boolean isTight(Token token) {
    return token.kind() == Token.Kind.OPERATOR && TIGHT.contains(token.text());
  }

  /// Whether it is one of the operators that bind less than `+` and more than comparisons, whatever their names, all from the left.
  static boolean isGeneral(Token token) {
    return token.kind() == Token.Kind.OPERATOR
        && !TIGHT.contains(token.text())
        && !COMPARISONS.contains(token.text())
        && !PUNCTUATION.contains(token.text());
  }

  /// Whether an operand of a comparison, of a keyword or in a list begins between the two tokens.
  static boolean isBoundary(Token before, Token token) {
    boolean insideOperand = token.isOperator("(") && BEFORE_PARENTHESIS.contains(before.text());
    return !endsOperand(before)
        && !insideOperand
        && !isTight(before)
        && !isGeneral(before)
        && !before.isOperator(".");
  }
}
