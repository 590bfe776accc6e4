package dev.kakehashi.engine.sql.call;

import dev.kakehashi.engine.sql.lexer.Token;
import dev.kakehashi.engine.sql.lexer.TokenReader;
import dev.kakehashi.engine.sql.spelling.PieceReader;
import dev.kakehashi.engine.sql.spelling.Source;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// `CALL [schema.]procedure(argument, ...)`, or `CALL schema.application."METHOD /path"(...)` of a route.
///
/// @param name its parts, one to three
/// @param position of the name in the statement, from 1
/// @param arguments texts of them
public record CallStatement(List<String> name, int position, List<Source> arguments) {
  private static final int MOST_PARTS = 3;

  /// The statement, if it is one.
  public static @Nullable CallStatement parse(String sql, List<Token> tokens) {
    Token first = tokens.getFirst();
    if (first.kind() != Token.Kind.WORD || !first.isWord("call")) {
      return null;
    }
    PieceReader pieces = new PieceReader(sql, tokens, 1);
    while (pieces.end > 1 && tokens.get(pieces.end - 1).isOperator(";")) {
      pieces.end--;
    }
    TokenReader in = pieces.in;
    int position = in.peek().start() + 1;
    List<String> name = new ArrayList<>();
    do {
      if (name.size() == MOST_PARTS) {
        throw in.syntaxError();
      }
      name.add(in.expectIdentifier());
    } while (in.acceptOperator("."));
    if (!in.peek().isOperator("(")) {
      throw in.syntaxError();
    }
    int close = pieces.closing(in.at);
    in.at++;
    List<Source> arguments = new ArrayList<>();
    while (in.at < close) {
      arguments.add(pieces.until(pieces.comma(close)));
      if (in.at < close) {
        in.at++;
        if (in.at == close) {
          throw in.syntaxError();
        }
      }
    }
    in.at++;
    if (in.at < pieces.end) {
      throw in.syntaxError();
    }
    return new CallStatement(name, position, arguments);
  }
}
