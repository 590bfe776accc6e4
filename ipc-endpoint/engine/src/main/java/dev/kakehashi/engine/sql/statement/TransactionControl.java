package dev.kakehashi.engine.sql.statement;

import dev.kakehashi.engine.api.Statement;
import dev.kakehashi.engine.sql.lexer.Token;
import dev.kakehashi.engine.sql.lexer.TokenReader;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// PREPARE TRANSACTION, COMMIT PREPARED, ROLLBACK PREPARED: the statements of two-phase commit.
///
/// PREPARE TRANSACTION ends the transaction it is executed in: it counts as a change. The other two concern another transaction: like DDL
/// they take effect at once, whatever becomes of the one they are executed in.
public record TransactionControl(Verb verb, String globalId) implements Prepared.OfSession {
  /// Action of the statement.
  public enum Verb {
    PREPARE,
    COMMIT_PREPARED,
    ROLLBACK_PREPARED
  }

  /// The statement, if it is one of these.
  public static @Nullable TransactionControl parse(String sql, List<Token> tokens) {
    TokenReader in = new TokenReader(sql, tokens, 0);
    Verb verb;
    if (in.acceptWords("prepare", "transaction")) {
      verb = Verb.PREPARE;
    } else if (in.acceptWords("commit", "prepared")) {
      verb = Verb.COMMIT_PREPARED;
    } else if (in.acceptWords("rollback", "prepared")) {
      verb = Verb.ROLLBACK_PREPARED;
    } else {
      return null;
    }
    Token globalId = in.next();
    if (globalId.kind() != Token.Kind.STRING) {
      throw TokenReader.syntaxErrorAt(sql, globalId);
    }
    in.expectEnd();
    return new TransactionControl(verb, globalId.text());
  }

  @Override
  public Statement.Kind kind() {
    return verb == Verb.PREPARE ? Statement.Kind.DML : Statement.Kind.DDL;
  }
}
