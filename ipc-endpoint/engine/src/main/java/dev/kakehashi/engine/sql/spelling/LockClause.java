package dev.kakehashi.engine.sql.spelling;

import dev.kakehashi.engine.sql.lexer.TokenReader;
import dev.kakehashi.engine.store.api.LockStrength;

/// The words behind FOR that say how rows are locked.
public final class LockClause {
  private LockClause() {}

  /// Reads `UPDATE`, `NO KEY UPDATE`, `SHARE` or `KEY SHARE`.
  ///
  /// @throws dev.kakehashi.engine.api.error.EngineException SYNTAX_ERROR for anything else
  public static LockStrength strength(TokenReader in) {
    if (in.acceptWords("no", "key", "update")) {
      return LockStrength.NO_KEY_UPDATE;
    }
    if (in.acceptWords("key", "share")) {
      return LockStrength.KEY_SHARE;
    }
    if (in.acceptWords("share")) {
      return LockStrength.SHARE;
    }
    in.expectWord("update");
    return LockStrength.UPDATE;
  }
}
