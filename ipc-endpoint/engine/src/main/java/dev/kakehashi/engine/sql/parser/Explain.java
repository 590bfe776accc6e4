package dev.kakehashi.engine.sql.parser;

import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.engine.sql.lexer.Token;
import dev.kakehashi.engine.sql.lexer.TokenReader;
import dev.kakehashi.protocol.ErrorCode;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/// The options of EXPLAIN.
///
/// @param analyze whether the statement is executed and measured
/// @param verbose whether the columns and output expressions are shown
/// @param json whether it is one JSON value instead of lines of text
/// @param costs whether expected rows are shown
/// @param timing whether times of the nodes are shown
/// @param summary whether times of planning and execution are shown
/// @param from index of the statement's first token
public record Explain(
    boolean analyze,
    boolean verbose,
    boolean json,
    boolean costs,
    boolean timing,
    boolean summary,
    int from) {
  /// Accepted, with nothing to show.
  private static final Set<String> WITHOUT_EFFECT =
      Set.of("buffers", "wal", "settings", "memory", "generic_plan");

  /// Null if it is another statement.
  public static @Nullable Explain parse(String sql, List<Token> tokens) {
    TokenReader in = new TokenReader(sql, tokens, 0);
    if (!in.acceptWords("explain")) {
      return null;
    }
    Builder options = new Builder();
    boolean isQuery =
        in.peek(1).isWord("select") || in.peek(1).isWord("with") || in.peek(1).isWord("values");
    if (in.peek().isOperator("(") && !isQuery && !in.peek(1).isOperator("(")) {
      in.at++;
      do {
        options.option(sql, in);
      } while (in.acceptOperator(","));
      in.expectOperator(")");
    } else {
      options.analyze = in.acceptWords("analyze");
      options.verbose = in.acceptWords("verbose");
    }
    if (options.timing != null && options.timing && !options.analyze) {
      throw new EngineException(
          ErrorCode.INVALID_PARAMETER_VALUE, "EXPLAIN option TIMING requires ANALYZE");
    }
    return options.build(in.at);
  }

  private static final class Builder {
    boolean analyze;
    boolean verbose;
    boolean json;
    boolean costs = true;
    @Nullable Boolean timing;
    @Nullable Boolean summary;

    void option(String sql, TokenReader in) {
      Token name = in.peek();
      String option = in.expectIdentifier();
      switch (option) {
        case "analyze" -> analyze = bool(sql, in);
        case "verbose" -> verbose = bool(sql, in);
        case "costs" -> costs = bool(sql, in);
        case "timing" -> timing = bool(sql, in);
        case "summary" -> summary = bool(sql, in);
        case "format" -> json = isJson(in);
        default -> {
          if (!WITHOUT_EFFECT.contains(option)) {
            throw new EngineException(
                    ErrorCode.SYNTAX_ERROR, "unrecognized EXPLAIN option \"" + option + "\"")
                .withPosition(name.start() + 1);
          }
          bool(sql, in);
        }
      }
    }

    private static boolean bool(String sql, TokenReader in) {
      if (in.peek().isOperator(",") || in.peek().isOperator(")")) {
        return true;
      }
      Token value = in.next();
      return switch (value.text().toLowerCase(java.util.Locale.ROOT)) {
        case "on", "true", "1" -> true;
        case "off", "false", "0" -> false;
        default -> throw TokenReader.syntaxErrorAt(sql, value);
      };
    }

    private static boolean isJson(TokenReader in) {
      Token format = in.next();
      return switch (format.text().toLowerCase(java.util.Locale.ROOT)) {
        case "json" -> true;
        case "text" -> false;
        default ->
            throw new EngineException(
                    ErrorCode.INVALID_PARAMETER_VALUE,
                    "unrecognized value for EXPLAIN option \"format\": \"" + format.text() + "\"")
                .withPosition(format.start() + 1)
                .withHint("There are the formats text and json.");
      };
    }

    Explain build(int from) {
      return new Explain(
          analyze,
          verbose,
          json,
          costs,
          timing == null ? analyze : timing,
          summary == null ? analyze : summary,
          from);
    }
  }
}
