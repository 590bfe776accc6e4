package dev.kakehashi.engine.sql.spelling;

import dev.kakehashi.engine.sql.lexer.QualifiedName;
import dev.kakehashi.engine.sql.lexer.Token;
import dev.kakehashi.engine.sql.lexer.TokenReader;
import java.util.ArrayList;
import java.util.List;

/// Cuts a statement into pieces: queries, conditions and expressions, each of which goes through [SpellingTranslator] for itself.
public final class PieceReader {
  private final String sql;
  private final List<Token> tokens;
  public final TokenReader in;

  /// Index of the token after the statement that is being read.
  public int end;

  /// Reads from token `from` on.
  public PieceReader(String sql, List<Token> tokens, int from) {
    this.sql = sql;
    this.tokens = tokens;
    this.in = new TokenReader(sql, tokens, from);
    this.end = tokens.size() - 1;
  }

  public QualifiedName name() {
    int position = in.peek().start() + 1;
    return new QualifiedName(null, in.expectIdentifier(), position);
  }

  public QualifiedName qualifiedName() {
    int position = in.peek().start() + 1;
    String first = in.expectIdentifier();
    return in.acceptOperator(".")
        ? new QualifiedName(first, in.expectIdentifier(), position)
        : new QualifiedName(null, first, position);
  }

  /// Index of the next of these words outside of parentheses, or the statement's end.
  public int clause(String... words) {
    int at = in.at;
    while (at < end) {
      Token token = tokens.get(at);
      if (token.isOperator("(")) {
        at = closing(at);
      } else if (token.isWord("case") && !tokens.get(at - 1).isOperator(".")) {
        at = caseEnd(at);
      } else if (token.kind() == Token.Kind.WORD && begins(token, at, words)) {
        return at;
      }
      at++;
    }
    return end;
  }

  /// Index of the END of the CASE at `open`, or of the statement's last token.
  private int caseEnd(int open) {
    int depth = 0;
    for (int at = open; at < end; at++) {
      Token token = tokens.get(at);
      if (tokens.get(at - 1).isOperator(".")) {
        continue;
      }
      if (token.isWord("case")) {
        depth++;
      } else if (token.isWord("end") && --depth == 0) {
        return at;
      }
    }
    return end - 1;
  }

  private boolean begins(Token token, int at, String... words) {
    for (String word : words) {
      if (!token.isWord(word)) {
        continue;
      }
      Token before = tokens.get(at - 1);
      return switch (word) {
        case "from" -> !before.isWord("distinct");
        default -> !before.isOperator(".");
      };
    }
    return false;
  }

  /// Index of the next comma outside of parentheses and brackets, or `stop`.
  public int comma(int stop) {
    int at = in.at;
    while (at < stop && !tokens.get(at).isOperator(",")) {
      if (tokens.get(at).isOperator("(")) {
        at = closing(at) + 1;
      } else {
        at = tokens.get(at).isOperator("[") ? afterBrackets(at) : at + 1;
      }
    }
    return at;
  }

  /// Index behind the brackets that open at `at`, and behind those that follow them.
  public int afterBrackets(int at) {
    int depth = 0;
    int next = at;
    while (next < end && (depth > 0 || tokens.get(next).isOperator("["))) {
      if (tokens.get(next).isOperator("[")) {
        depth++;
      } else if (tokens.get(next).isOperator("]")) {
        depth--;
      }
      next++;
    }
    if (depth > 0) {
      throw TokenReader.syntaxErrorAt(sql, tokens.get(end));
    }
    return next;
  }

  /// Index of the parenthesis that closes the one at `open`.
  public int closing(int open) {
    int depth = 0;
    for (int at = open; at < end; at++) {
      if (tokens.get(at).isOperator("(")) {
        depth++;
      } else if (tokens.get(at).isOperator(")") && --depth == 0) {
        return at;
      }
    }
    throw TokenReader.syntaxErrorAt(sql, tokens.get(end));
  }

  public Source rest() {
    return until(end);
  }

  public Source until(int stop) {
    return until(stop, "");
  }

  /// The tokens up to `stop` as a piece of its own.
  public Source until(int stop, String prefix) {
    if (in.at >= stop) {
      throw TokenReader.syntaxErrorAt(sql, tokens.get(stop));
    }
    Token after = tokens.get(stop);
    List<Token> piece = new ArrayList<>(tokens.subList(in.at, stop));
    piece.add(new Token(Token.Kind.END, "", after.start(), after.start()));
    in.at = stop;
    return SpellingTranslator.translate(sql, piece, prefix);
  }
}
