package dev.kakehashi.engine.sql.parser;

import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.engine.sql.lexer.Token;
import dev.kakehashi.engine.sql.lexer.TokenReader;
import dev.kakehashi.protocol.ErrorCode;
import java.util.HashSet;
import java.util.Set;
import java.util.function.Consumer;

/// Parser of what follows CREATE SEQUENCE, ALTER SEQUENCE and AS IDENTITY.
final class SequenceOptionsParser {
  /// Conflicts are errors at once.
  static final Consumer<EngineException> THROWN =
      conflict -> {
        throw conflict;
      };

  private final TokenReader in;
  private final Set<String> seen = new HashSet<>();
  private final SequenceOptions.Builder options = new SequenceOptions.Builder();

  private final Consumer<EngineException> conflicts;

  SequenceOptionsParser(TokenReader in) {
    this(in, THROWN);
  }

  /// @param conflicts gets options that are there twice; may throw them
  SequenceOptionsParser(TokenReader in, Consumer<EngineException> conflicts) {
    this.in = in;
    this.conflicts = conflicts;
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

  /// Options that were read so far.
  SequenceOptions collected() {
    return options.build();
  }

  private boolean option(boolean alters) {
    if (in.acceptWords("as")) {
      once("as");
      options.typeOid(in.type().oid());
    } else if (in.acceptWords("increment")) {
      once("increment");
      in.acceptWords("by");
      options.increment(number());
    } else if (in.acceptWords("start")) {
      once("start");
      in.acceptWords("with");
      options.start(number());
    } else if (in.acceptWords("minvalue")) {
      once("minvalue");
      options.min(number());
    } else if (in.acceptWords("no", "minvalue")) {
      once("minvalue");
      options.noMin();
    } else if (in.acceptWords("maxvalue")) {
      once("maxvalue");
      options.max(number());
    } else if (in.acceptWords("no", "maxvalue")) {
      once("maxvalue");
      options.noMax();
    } else if (in.acceptWords("cache")) {
      once("cache");
      options.cache(number());
    } else if (in.acceptWords("cycle")) {
      once("cycle");
      options.cycles(true);
    } else if (in.acceptWords("no", "cycle")) {
      once("cycle");
      options.cycles(false);
    } else if (alters && in.acceptWords("restart")) {
      once("restart");
      boolean said = in.acceptWords("with") || in.peek().kind() == Token.Kind.NUMBER;
      options.restart(said ? (Long) number() : null);
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
    options.owner(in.acceptWords("none") ? null : in.columnName("invalid OWNED BY option"));
    return true;
  }

  private void once(String option) {
    if (!seen.add(option)) {
      conflicts.accept(
          new EngineException(ErrorCode.SYNTAX_ERROR, "conflicting or redundant options")
              .withPosition(in.peek(-1).start() + 1));
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
