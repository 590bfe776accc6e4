package dev.kakehashi.engine.sql.parser;

import dev.kakehashi.engine.sql.lexer.QualifiedName;
import dev.kakehashi.engine.sql.lexer.Token;
import dev.kakehashi.engine.sql.lexer.TokenReader;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// SELECT ... INTO, which is CREATE TABLE AS with its words in another order.
public final class SelectInto {
  private SelectInto() {}

  /// The statement, if it is one of these.
  public static @Nullable DdlStatement parse(String sql, List<Token> tokens) {
    int into = find(tokens);
    if (into < 0) {
      return null;
    }
    TokenReader in = new TokenReader(sql, tokens, into + 1);
    Token word = in.peek();
    boolean named = in.peek(1).isIdentifier() || in.peek(1).isWord("table");
    if (named && (word.isWord("temporary") || word.isWord("temp") || word.isWord("unlogged"))) {
      throw TokenReader.notSupported(word, "SELECT INTO " + word.text() + " table");
    }
    in.acceptWords("table");
    QualifiedName name = in.name();
    int start = tokens.get(into).start();
    int end = tokens.get(in.at - 1).end();
    Token last = tokens.get(tokens.size() - 2);
    int length = last.isOperator(";") ? last.start() : last.end();
    // Blanks keep the positions of what follows.
    String query = sql.substring(0, start) + " ".repeat(end - start) + sql.substring(end, length);
    return new DdlStatement.CreateTableAs(name, false, List.of(), query, 0, true);
  }

  private static int find(List<Token> tokens) {
    Token first = tokens.getFirst();
    if (!first.isWord("select") && !first.isWord("with")) {
      return -1;
    }
    int depth = 0;
    for (int i = 1; i < tokens.size(); i++) {
      Token token = tokens.get(i);
      depth += token.isOperator("(") ? 1 : token.isOperator(")") ? -1 : 0;
      Token before = tokens.get(i - 1);
      if (depth == 0 && token.isWord("into")) {
        boolean ofChange = before.isWord("insert") || before.isWord("merge");
        boolean isName = before.isOperator(".") || before.isWord("as");
        return ofChange || isName ? -1 : i;
      }
    }
    return -1;
  }
}
