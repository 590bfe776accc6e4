package dev.kakehashi.engine.sql.statement;

import dev.kakehashi.engine.api.Statement;
import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.engine.sql.lexer.Token;
import dev.kakehashi.engine.sql.lexer.TokenReader;
import dev.kakehashi.protocol.ErrorCode;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// ALTER SYSTEM SET and RESET: a setting of the endpoint, from the next reload or restart on. It takes effect at once and for good,
/// whatever becomes of a transaction; so it runs in none.
///
/// @param name null: all that were set so
/// @param value null: reset
public record AlterSystem(@Nullable String name, @Nullable String value) implements Prepared {
  @Override
  public Statement.Kind kind() {
    return Statement.Kind.DDL;
  }

  @Override
  public Place place() {
    return Place.ALONE;
  }

  @Override
  public EngineException misplaced() {
    return new EngineException(
        ErrorCode.ACTIVE_TRANSACTION, "ALTER SYSTEM cannot run inside a transaction block");
  }

  /// The statement, if it is one.
  public static @Nullable AlterSystem parse(String sql, List<Token> tokens) {
    TokenReader in = new TokenReader(sql, tokens, 0);
    if (!in.acceptWords("alter", "system")) {
      return null;
    }
    if (in.acceptWords("reset")) {
      String name = in.acceptWords("all") ? null : Show.dotted(in);
      in.expectEnd();
      return new AlterSystem(name, null);
    }
    in.expectWord("set");
    String name = Show.dotted(in);
    if (!in.acceptWords("to")) {
      in.expectOperator("=");
    }
    if (in.acceptWords("default")) {
      in.expectEnd();
      return new AlterSystem(name, null);
    }
    StringBuilder value = new StringBuilder();
    do {
      value.append(value.isEmpty() ? "" : ", ").append(value(sql, in));
    } while (in.acceptOperator(","));
    in.expectEnd();
    return new AlterSystem(name, value.toString());
  }

  private static String value(String sql, TokenReader in) {
    boolean negative = in.acceptOperator("-");
    Token token = in.next();
    return switch (token.kind()) {
      case NUMBER -> (negative ? "-" : "") + token.text();
      case STRING, WORD, QUOTED_WORD -> {
        if (negative) {
          throw TokenReader.syntaxErrorAt(sql, token);
        }
        yield token.text();
      }
      default -> throw TokenReader.syntaxErrorAt(sql, token);
    };
  }

  /// Why somebody who is no superuser may not.
  public EngineException denied() {
    return new EngineException(
        ErrorCode.INSUFFICIENT_PRIVILEGE,
        name == null
            ? "permission denied to perform ALTER SYSTEM RESET ALL"
            : "permission denied to set parameter \"" + name + "\"");
  }
}
