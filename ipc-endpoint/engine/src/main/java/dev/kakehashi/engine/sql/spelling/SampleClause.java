package dev.kakehashi.engine.sql.spelling;

import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.engine.sql.algebra.Sample;
import dev.kakehashi.engine.sql.lexer.Token;
import dev.kakehashi.engine.sql.lexer.TokenReader;
import dev.kakehashi.protocol.ErrorCode;
import java.util.List;
import org.apache.calcite.sql.SqlIdentifier;
import org.apache.calcite.sql.parser.SqlParserPos;
import org.jspecify.annotations.Nullable;

/// TABLESAMPLE of a table in FROM. Calcite's parser gets it as one more part of the table's name.
public final class SampleClause {
  private static final String PREFIX = "kh sample ";

  private SampleClause() {}

  /// Reads the clause from its keyword on.
  static Sample parse(TokenReader in) {
    in.expectWord("tablesample");
    Token method = in.peek();
    if (!in.acceptWords("bernoulli") && !in.acceptWords("system")) {
      in.expectIdentifier();
      throw new EngineException(
              ErrorCode.UNDEFINED_OBJECT, "tablesample method " + method.text() + " does not exist")
          .withPosition(method.start() + 1);
    }
    double percent = number(in);
    if (percent > 100) {
      throw new EngineException(
              ErrorCode.INVALID_PARAMETER_VALUE, "sample percentage must be between 0 and 100")
          .withPosition(method.start() + 1);
    }
    Long seed = in.acceptWords("repeatable") ? (Long) Double.doubleToLongBits(number(in)) : null;
    return new Sample(percent / 100, seed);
  }

  private static double number(TokenReader in) {
    in.expectOperator("(");
    if (in.peek().kind() != Token.Kind.NUMBER) {
      throw in.syntaxError();
    }
    double value = Double.parseDouble(in.next().text());
    in.expectOperator(")");
    return value;
  }

  /// The clause as part of a name.
  static String name(Sample sample) {
    return PREFIX + sample.fraction() + (sample.seed() == null ? "" : " " + sample.seed());
  }

  /// The clause of a table's name, or null.
  public static @Nullable Sample of(SqlIdentifier identifier) {
    String last = identifier.names.getLast();
    if (!last.startsWith(PREFIX)) {
      return null;
    }
    List<String> parts = List.of(last.substring(PREFIX.length()).split(" ", -1));
    return new Sample(
        Double.parseDouble(parts.getFirst()),
        parts.size() > 1 ? (Long) Long.parseLong(parts.get(1)) : null);
  }

  /// The name without the clause.
  public static SqlIdentifier tableOf(SqlIdentifier identifier) {
    int parts = identifier.names.size() - 1;
    SqlParserPos position = identifier.getParserPosition();
    return new SqlIdentifier(identifier.names.subList(0, parts), position);
  }
}
