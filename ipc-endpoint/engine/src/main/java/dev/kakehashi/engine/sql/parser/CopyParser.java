package dev.kakehashi.engine.sql.parser;

import dev.kakehashi.engine.api.bulk.CopyRequest;
import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.engine.sql.lexer.Lexer;
import dev.kakehashi.engine.sql.lexer.QualifiedName;
import dev.kakehashi.engine.sql.lexer.Token;
import dev.kakehashi.engine.sql.lexer.TokenReader;
import dev.kakehashi.engine.sql.spelling.PieceReader;
import dev.kakehashi.engine.sql.spelling.Source;
import dev.kakehashi.protocol.ErrorCode;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// Parses COPY in both directions. Which options there are is not known here: any name is taken, with its values.
///
/// The options without parentheses that PostgreSQL had before 9.0 become the same as those in parentheses.
public final class CopyParser {
  private final String sql;
  private final List<Token> tokens;
  private final PieceReader pieces;
  private final TokenReader in;
  private final List<CopyRequest.Option> options = new ArrayList<>();

  private CopyParser(String sql, List<Token> tokens) {
    this.sql = sql;
    this.tokens = tokens;
    this.pieces = new PieceReader(sql, tokens, 0);
    this.in = pieces.in;
    while (pieces.end > 0 && tokens.get(pieces.end - 1).isOperator(";")) {
      pieces.end--;
    }
  }

  /// The statement; null: it is another one.
  ///
  /// @throws EngineException SYNTAX_ERROR, FEATURE_NOT_SUPPORTED, INVALID_NAME with the position
  public static @Nullable CopyStatement parse(String sql, List<Token> tokens) {
    CopyParser parser = new CopyParser(sql, tokens);
    return parser.in.acceptWords("copy") ? parser.statement() : null;
  }

  /// A request of a location and options that stand in texts of their own.
  ///
  /// @param options as between the parentheses; empty: none
  /// @throws EngineException SYNTAX_ERROR without a position, because it would be that in another text
  public static CopyRequest request(String location, String options) {
    if (options.isBlank()) {
      return new CopyRequest(location, List.of());
    }
    String sql = "(" + options + ")";
    try {
      CopyParser parser = new CopyParser(sql, Lexer.tokenize(sql));
      parser.options();
      parser.expectEnd();
      return new CopyRequest(
          location,
          parser.options.stream()
              .map(option -> new CopyRequest.Option(option.name(), option.values(), 0))
              .toList());
    } catch (EngineException refused) {
      throw refused.withPosition(0);
    }
  }

  private CopyStatement statement() {
    if (in.peek().isOperator("(")) {
      return query();
    }
    if (in.peek().isWord("binary") && in.peek(1).isIdentifier() && !in.peek(1).isWord("from")) {
      in.at++;
      option("format", List.of("binary"), in.peek(-1));
    }
    QualifiedName table = in.name();
    List<QualifiedName> columns = new ArrayList<>();
    if (in.acceptOperator("(")) {
      do {
        columns.add(new QualifiedName(null, in.expectName(), in.peek(-1).start() + 1));
      } while (in.acceptOperator(","));
      in.expectOperator(")");
    }
    if (in.acceptWords("from")) {
      return from(table, columns);
    }
    in.expectWord("to");
    return new CopyStatement.TableTo(table, columns, to());
  }

  private CopyStatement query() {
    int close = pieces.closing(in.at);
    int first = ++in.at;
    if (first == close) {
      throw in.syntaxError();
    }
    ParsedStatement query = StatementParser.parse(sql, tokens, first, close);
    String text = sql.substring(tokens.get(first).start(), tokens.get(close - 1).end());
    in.at = close + 1;
    in.expectWord("to");
    return new CopyStatement.QueryTo(query, text, to());
  }

  private CopyStatement from(QualifiedName table, List<QualifiedName> columns) {
    Token place = in.peek();
    if (in.acceptWords("stdin") || in.acceptWords("stdout")) {
      throw TokenReader.notSupported(place, "COPY FROM STDIN")
          .withHint("Upload the file in pieces, and load it FROM 'upload:id'.");
    }
    String location = location();
    options();
    Source where = null;
    if (in.at < pieces.end && in.acceptWords("where")) {
      where = pieces.rest();
    }
    expectEnd();
    return new CopyStatement.From(table, columns, request(location), where);
  }

  private CopyRequest to() {
    boolean stream = in.acceptWords("stdout") || in.acceptWords("stdin");
    String location = stream ? "" : location();
    options();
    if (in.peek().isWord("where")) {
      throw new EngineException(ErrorCode.SYNTAX_ERROR, "WHERE clause not allowed with COPY TO")
          .withPosition(in.peek().start() + 1)
          .withHint("Try the COPY (SELECT ... WHERE ...) TO variant.");
    }
    expectEnd();
    return request(location);
  }

  private CopyRequest request(String location) {
    return new CopyRequest(location, List.copyOf(options));
  }

  private String location() {
    Token token = in.peek();
    if (token.isWord("program")) {
      throw TokenReader.notSupported(token, "COPY with a program");
    }
    String location = string();
    if (location.isEmpty()) {
      throw new EngineException(ErrorCode.INVALID_NAME, "the location of COPY is empty")
          .withPosition(token.start() + 1);
    }
    return location;
  }

  private String string() {
    if (in.peek().kind() != Token.Kind.STRING) {
      throw in.syntaxError();
    }
    return in.next().text();
  }

  private void expectEnd() {
    if (in.at < pieces.end) {
      throw in.syntaxError();
    }
  }

  private void options() {
    in.acceptWords("with");
    if (!in.peek().isOperator("(")) {
      while (oldOption()) {}
      return;
    }
    in.at++;
    do {
      Token name = in.peek();
      option(in.expectIdentifier(), values(), name);
    } while (in.acceptOperator(","));
    in.expectOperator(")");
  }

  private void option(String name, List<String> values, Token at) {
    if (options.stream().anyMatch(option -> option.name().equals(name))) {
      throw new EngineException(ErrorCode.SYNTAX_ERROR, "conflicting or redundant options")
          .withPosition(at.start() + 1);
    }
    options.add(new CopyRequest.Option(name, values, at.start() + 1));
  }

  /// None, one, or several in parentheses, of which each may be of several words.
  private List<String> values() {
    if (in.peek().isOperator(",") || in.peek().isOperator(")")) {
      return List.of();
    }
    if (!in.acceptOperator("(")) {
      return List.of(value());
    }
    List<String> values = new ArrayList<>();
    do {
      StringBuilder words = new StringBuilder(value());
      while (!in.peek().isOperator(",") && !in.peek().isOperator(")")) {
        words.append(' ').append(value());
      }
      values.add(words.toString());
    } while (in.acceptOperator(","));
    in.expectOperator(")");
    return List.copyOf(values);
  }

  private String value() {
    if (in.acceptOperator("*")) {
      return "*";
    }
    String sign = in.acceptOperator("-") ? "-" : in.acceptOperator("+") ? "" : null;
    Token token = in.peek();
    boolean taken =
        token.kind() == Token.Kind.NUMBER
            || (sign == null && (token.isIdentifier() || token.kind() == Token.Kind.STRING));
    if (!taken) {
      throw in.syntaxError();
    }
    in.at++;
    return sign == null ? token.text() : sign + token.text();
  }

  /// Reads one of the options without parentheses; false: none follows.
  private boolean oldOption() {
    Token at = in.peek();
    if (in.at >= pieces.end) {
      return false;
    }
    if (in.acceptWords("csv") || in.acceptWords("binary")) {
      option("format", List.of(at.text()), at);
    } else if (in.acceptWords("header") || in.acceptWords("freeze")) {
      option(at.text(), List.of(), at);
    } else if (in.acceptWords("delimiter")
        || in.acceptWords("null")
        || in.acceptWords("quote")
        || in.acceptWords("escape")) {
      in.acceptWords("as");
      option(at.text(), List.of(string()), at);
    } else if (in.acceptWords("encoding")) {
      option("encoding", List.of(string()), at);
    } else if (in.acceptWords("force", "quote")) {
      option("force_quote", columns(), at);
    } else if (in.acceptWords("force", "not", "null")) {
      option("force_not_null", columns(), at);
    } else if (in.acceptWords("force", "null")) {
      option("force_null", columns(), at);
    } else {
      return false;
    }
    return true;
  }

  private List<String> columns() {
    if (in.acceptOperator("*")) {
      return List.of("*");
    }
    List<String> columns = new ArrayList<>();
    do {
      columns.add(in.expectName());
    } while (in.acceptOperator(","));
    return List.copyOf(columns);
  }
}
