package dev.kakehashi.engine.sql;

import dev.kakehashi.engine.api.EngineException;
import dev.kakehashi.engine.sql.DdlStatement.SequenceOptions;
import dev.kakehashi.protocol.ErrorCode;
import org.jspecify.annotations.Nullable;

/// Parser of what follows CREATE SEQUENCE, ALTER SEQUENCE and AS IDENTITY.
final class SequenceOptionsParser {
  private final TokenReader in;
  private @Nullable Integer typeOid;
  private @Nullable Long start;
  private @Nullable Long increment;
  private @Nullable Long min;
  private boolean noMin;
  private @Nullable Long max;
  private boolean noMax;
  private @Nullable Long cache;
  private @Nullable Boolean cycles;
  private boolean restarts;
  private @Nullable Long restartWith;
  private DdlStatement.@Nullable ColumnName ownedBy;
  private boolean ownedByNone;

  SequenceOptionsParser(TokenReader in) {
    this.in = in;
  }

  /// @param alters whether RESTART is allowed
  SequenceOptions options(boolean alters) {
    while (option(alters)) {}
    return collected();
  }

  /// RESTART, or SET and an option, of an identity column.
  ///
  /// @return whether one was there
  boolean change() {
    if (in.peek().isWord("restart")) {
      return option(true);
    }
    int start = in.at;
    if (!in.acceptWords("set")) {
      return false;
    }
    if (in.peek().isWord("as") || in.peek().isWord("owned")) {
      throw in.syntaxError();
    }
    if (!option(false)) {
      in.at = start;
      return false;
    }
    return true;
  }

  /// What was read so far.
  SequenceOptions collected() {
    return new SequenceOptions(
        typeOid,
        start,
        increment,
        min,
        noMin,
        max,
        noMax,
        cache,
        cycles,
        restarts,
        restartWith,
        ownedBy,
        ownedByNone);
  }

  private boolean option(boolean alters) {
    if (in.acceptWords("as")) {
      typeOid = in.type().oid();
    } else if (in.acceptWords("increment")) {
      in.acceptWords("by");
      increment = number();
    } else if (in.acceptWords("start")) {
      in.acceptWords("with");
      start = number();
    } else if (in.acceptWords("minvalue")) {
      min = number();
    } else if (in.acceptWords("no", "minvalue")) {
      noMin = true;
    } else if (in.acceptWords("maxvalue")) {
      max = number();
    } else if (in.acceptWords("no", "maxvalue")) {
      noMax = true;
    } else if (in.acceptWords("cache")) {
      cache = number();
    } else if (in.acceptWords("cycle")) {
      cycles = true;
    } else if (in.acceptWords("no", "cycle")) {
      cycles = false;
    } else if (alters && in.acceptWords("restart")) {
      restarts = true;
      if (in.acceptWords("with") || in.peek().kind() == Token.Kind.NUMBER) {
        restartWith = number();
      }
    } else {
      return owner();
    }
    return true;
  }

  private boolean owner() {
    if (!in.acceptWords("owned", "by")) {
      return false;
    }
    ownedByNone = in.acceptWords("none");
    if (!ownedByNone) {
      ownedBy = in.columnName("invalid OWNED BY option");
    }
    return true;
  }

  private long number() {
    boolean negative = in.acceptOperator("-");
    if (!negative) {
      in.acceptOperator("+");
    }
    Token token = in.next();
    try {
      if (token.kind() == Token.Kind.NUMBER) {
        return Long.parseLong((negative ? "-" : "") + token.text());
      }
    } catch (NumberFormatException tooLarge) {
      throw new EngineException(
              ErrorCode.NUMERIC_VALUE_OUT_OF_RANGE,
              "value \"" + token.text() + "\" is out of range for type bigint",
              tooLarge)
          .withPosition(token.start() + 1);
    }
    in.at--;
    throw in.syntaxError();
  }
}
