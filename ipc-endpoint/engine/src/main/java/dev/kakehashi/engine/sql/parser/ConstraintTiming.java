package dev.kakehashi.engine.sql.parser;

import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.engine.catalog.ForeignKey.Timing;
import dev.kakehashi.engine.sql.lexer.Token;
import dev.kakehashi.engine.sql.lexer.TokenReader;
import dev.kakehashi.protocol.ErrorCode;
import org.jspecify.annotations.Nullable;

/// Parser of [NOT] DEFERRABLE and INITIALLY IMMEDIATE or DEFERRED, in any order, as PostgreSQL combines them.
final class ConstraintTiming {
  private final TokenReader in;
  private @Nullable Boolean deferrable;
  private @Nullable Boolean initiallyDeferred;

  ConstraintTiming(TokenReader in) {
    this.in = in;
  }

  /// Takes one of the clauses; false if something else follows.
  boolean accept() {
    Token at = in.peek();
    if (in.acceptWords("not", "deferrable")) {
      deferrable = once(at, deferrable, false);
    } else if (in.acceptWords("deferrable")) {
      deferrable = once(at, deferrable, true);
    } else if (in.acceptWords("initially", "deferred")) {
      initiallyDeferred = once(at, initiallyDeferred, true);
    } else if (in.acceptWords("initially", "immediate")) {
      initiallyDeferred = once(at, initiallyDeferred, false);
    } else {
      return false;
    }
    if (Boolean.FALSE.equals(deferrable) && Boolean.TRUE.equals(initiallyDeferred)) {
      throw refused(at, "constraint declared INITIALLY DEFERRED must be DEFERRABLE");
    }
    return true;
  }

  private static boolean once(Token at, @Nullable Boolean before, boolean now) {
    if (before != null) {
      throw refused(at, "conflicting constraint properties");
    }
    return now;
  }

  private static EngineException refused(Token at, String message) {
    return new EngineException(ErrorCode.SYNTAX_ERROR, message).withPosition(at.start() + 1);
  }

  Timing result() {
    if (Boolean.TRUE.equals(initiallyDeferred)) {
      return Timing.INITIALLY_DEFERRED;
    }
    return Boolean.TRUE.equals(deferrable) ? Timing.INITIALLY_IMMEDIATE : Timing.NOT_DEFERRABLE;
  }

  /// Takes all clauses that follow.
  static Timing parse(TokenReader in) {
    ConstraintTiming timing = new ConstraintTiming(in);
    boolean more;
    do {
      more = timing.accept();
    } while (more);
    return timing.result();
  }
}
