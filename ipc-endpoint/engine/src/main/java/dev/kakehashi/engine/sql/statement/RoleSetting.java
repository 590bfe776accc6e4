package dev.kakehashi.engine.sql.statement;

import dev.kakehashi.engine.api.Statement;
import dev.kakehashi.engine.sql.lexer.Token;
import dev.kakehashi.engine.sql.lexer.TokenReader;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// SET ROLE and RESET ROLE: whose rights count in the session from now on.
///
/// Part of the transaction that it is executed in, as in PostgreSQL: a rollback undoes it.
///
/// @param role null: that of who has logged in
/// @param local until the end of the transaction only
public record RoleSetting(@Nullable String role, boolean local) implements Prepared.OfSession {
  @Override
  public Statement.Kind kind() {
    return Statement.Kind.QUERY;
  }

  /// The statement, if it is one of these.
  public static @Nullable RoleSetting parse(String sql, List<Token> tokens) {
    TokenReader in = new TokenReader(sql, tokens, 0);
    if (in.acceptWords("reset", "role")) {
      in.expectEnd();
      return new RoleSetting(null, false);
    }
    if (!in.acceptWords("set")) {
      return null;
    }
    boolean local = in.acceptWords("local");
    if (!local) {
      in.acceptWords("session");
    }
    if (!in.acceptWords("role")) {
      return null;
    }
    if (!in.acceptWords("to")) {
      in.acceptOperator("=");
    }
    Token value = in.next();
    if (value.kind() != Token.Kind.STRING && !value.isIdentifier()) {
      throw TokenReader.syntaxErrorAt(sql, value);
    }
    in.expectEnd();
    return new RoleSetting(value.text().equals("none") ? null : value.text(), local);
  }
}
