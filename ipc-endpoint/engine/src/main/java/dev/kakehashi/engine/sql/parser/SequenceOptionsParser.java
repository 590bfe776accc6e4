package dev.kakehashi.engine.sql.parser;

import dev.kakehashi.engine.api.EngineException;
import dev.kakehashi.engine.sql.lexer.QualifiedName;
import dev.kakehashi.engine.sql.lexer.Token;
import dev.kakehashi.engine.sql.lexer.TokenReader;
import dev.kakehashi.engine.sql.parser.DdlStatement.SequenceOptions;
import dev.kakehashi.protocol.ErrorCode;
import java.util.HashSet;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/// Parser of what follows CREATE SEQUENCE, ALTER SEQUENCE and AS IDENTITY.
final class SequenceOptionsParser {
  private final TokenReader in;
  private final Set<String> seen = new HashSet<>();
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
  private QualifiedName.@Nullable Column ownedBy;
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
      once("as");
      typeOid = in.type().oid();
    } else if (in.acceptWords("increment")) {
      once("increment");
      in.acceptWords("by");
      increment = number();
    } else if (in.acceptWords("start")) {
      once("start");
      in.acceptWords("with");
      start = number();
    } else if (in.acceptWords("minvalue")) {
      once("minvalue");
      min = number();
    } else if (in.acceptWords("no", "minvalue")) {
      once("minvalue");
      noMin = true;
    } else if (in.acceptWords("maxvalue")) {
      once("maxvalue");
      max = number();
    } else if (in.acceptWords("no", "maxvalue")) {
      once("maxvalue");
      noMax = true;
    } else if (in.acceptWords("cache")) {
      once("cache");
      cache = number();
    } else if (in.acceptWords("cycle")) {
      once("cycle");
      cycles = true;
    } else if (in.acceptWords("no", "cycle")) {
      once("cycle");
      cycles = false;
    } else if (alters && in.acceptWords("restart")) {
      once("restart");
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
    once("owned");
    ownedByNone = in.acceptWords("none");
    if (!ownedByNone) {
      ownedBy = in.columnName("invalid OWNED BY option");
    }
    return true;
  }

  private void once(String option) {
    if (!seen.add(option)) {
      throw new EngineException(ErrorCode.SYNTAX_ERROR, "conflicting or redundant options")
          .withPosition(in.peek(-1).start() + 1);
    }
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
