package dev.kakehashi.engine.sql.parser;

import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.engine.sql.lexer.Token;
import dev.kakehashi.protocol.ErrorCode;
import java.util.List;
import java.util.Locale;
import java.util.Set;

/// Commands of PostgreSQL that the engine does not have: they are told apart from what is misspelt.
public final class UnknownCommand {
  private static final Set<String> OF_TRANSACTIONS =
      Set.of("abort", "begin", "commit", "end", "release", "rollback", "savepoint", "start");

  private static final Set<String> OTHERS =
      Set.of(
          "checkpoint",
          "close",
          "cluster",
          "deallocate",
          "declare",
          "discard",
          "do",
          "execute",
          "fetch",
          "import",
          "listen",
          "load",
          "lock",
          "move",
          "notify",
          "prepare",
          "refresh",
          "reindex",
          "unlisten",
          "vacuum");

  private UnknownCommand() {}

  /// @throws EngineException FEATURE_NOT_SUPPORTED
  public static void refuse(List<Token> tokens) {
    Token first = tokens.getFirst();
    if (first.kind() != Token.Kind.WORD) {
      return;
    }
    boolean ofTransactions = OF_TRANSACTIONS.contains(first.text());
    if (ofTransactions || OTHERS.contains(first.text())) {
      EngineException refused =
          new EngineException(
                  ErrorCode.FEATURE_NOT_SUPPORTED,
                  first.text().toUpperCase(Locale.ROOT) + " is not supported by the engine")
              .withPosition(first.start() + 1);
      throw ofTransactions
          ? refused.withHint(
              "The client begins and ends transactions; their characteristics and settings are options of it.")
          : refused;
    }
  }
}
