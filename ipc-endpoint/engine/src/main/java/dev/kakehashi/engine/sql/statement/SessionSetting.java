package dev.kakehashi.engine.sql.statement;

import dev.kakehashi.engine.api.Statement;
import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.engine.catalog.ShownSetting;
import dev.kakehashi.engine.sql.lexer.Token;
import dev.kakehashi.engine.sql.lexer.TokenReader;
import dev.kakehashi.engine.type.time.Intervals;
import dev.kakehashi.engine.type.time.OffsetIntervals;
import dev.kakehashi.engine.vector.VarHeap;
import dev.kakehashi.protocol.ErrorCode;
import dev.kakehashi.valuetext.time.IntervalFields;
import dev.kakehashi.valuetext.time.Zone;
import java.math.BigDecimal;
import java.math.RoundingMode;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// SET and RESET of what a session can set: its time zone.
///
/// Part of the transaction that it is executed in, as in PostgreSQL: a rollback undoes it.
///
/// @param zone null: the one that the session began with
/// @param local until the end of the transaction only
public record SessionSetting(@Nullable Zone zone, boolean local) implements Prepared.OfSession {
  private static final BigDecimal SECONDS_PER_HOUR = BigDecimal.valueOf(3600);

  @Override
  public Statement.Kind kind() {
    return Statement.Kind.QUERY;
  }

  /// The statement, if it is one of these.
  public static @Nullable SessionSetting parse(
      String sql, List<Token> tokens, List<ShownSetting> ofEngine) {
    TokenReader in = new TokenReader(sql, tokens, 0);
    if (in.acceptWords("reset")) {
      if (!in.acceptWords("all")) {
        expectTimeZone(in, ofEngine);
      }
      in.expectEnd();
      return new SessionSetting(null, false);
    }
    // SET of an UPDATE or the like does not begin a statement.
    if (!in.acceptWords("set")) {
      return null;
    }
    boolean local = in.acceptWords("local");
    if (!local) {
      in.acceptWords("session");
    }
    boolean words = expectTimeZone(in, ofEngine);
    if (!words && !in.acceptWords("to")) {
      in.expectOperator("=");
    }
    Zone zone = value(sql, in);
    in.expectEnd();
    return new SessionSetting(zone, local);
  }

  /// Whether it is TIME ZONE in two words.
  private static boolean expectTimeZone(TokenReader in, List<ShownSetting> ofEngine) {
    if (in.acceptWords("time", "zone")) {
      return true;
    }
    Token first = in.peek();
    String name = Show.dotted(in);
    if (!name.equalsIgnoreCase(Show.TIME_ZONE)) {
      ShownSetting known = Show.setting(name, first, ofEngine, Zone.UTC);
      throw new EngineException(
              ErrorCode.FEATURE_NOT_SUPPORTED,
              "parameter \"" + known.name() + "\" cannot be changed by a session")
          .withPosition(first.start() + 1);
    }
    return false;
  }

  private static @Nullable Zone value(String sql, TokenReader in) {
    if (in.acceptWords("default") || in.acceptWords("local")) {
      return null;
    }
    if (in.acceptWords("interval")) {
      Token text = in.next();
      if (text.kind() != Token.Kind.STRING) {
        throw TokenReader.syntaxErrorAt(sql, text);
      }
      IntervalFields fields = IntervalFields.of(in.interval().typeModifier());
      try (VarHeap heap = new VarHeap()) {
        long seconds = OffsetIntervals.offsetSecondsOf(Intervals.parse(text.text(), fields, heap));
        return known(Zone.ofOffset(seconds), text.text(), text);
      }
    }
    boolean negative = in.acceptOperator("-");
    if (!negative) {
      in.acceptOperator("+");
    }
    Token value = in.next();
    String text = value.text();
    return switch (value.kind()) {
      case NUMBER -> known(Zone.ofOffset(seconds(text, negative)), text, value);
      case STRING, WORD, QUOTED_WORD -> {
        if (negative) {
          throw TokenReader.syntaxErrorAt(sql, value);
        }
        yield known(named(text), text, value);
      }
      default -> throw TokenReader.syntaxErrorAt(sql, value);
    };
  }

  /// A string may also be a number of hours.
  private static @Nullable Zone named(String text) {
    return text.matches("[+-]?\\d+(\\.\\d+)?")
        ? Zone.ofOffset(seconds(text.replaceFirst("^[+-]", ""), text.startsWith("-")))
        : Zone.find(text);
  }

  /// @param hours east of UTC
  private static long seconds(String hours, boolean negative) {
    BigDecimal seconds =
        new BigDecimal(hours).multiply(SECONDS_PER_HOUR).setScale(0, RoundingMode.DOWN);
    // Whatever is further than this is refused by its size.
    long bounded = seconds.min(BigDecimal.valueOf(Integer.MAX_VALUE)).longValue();
    return negative ? -bounded : bounded;
  }

  private static Zone known(@Nullable Zone zone, String text, Token at) {
    if (zone == null) {
      throw new EngineException(
              ErrorCode.INVALID_PARAMETER_VALUE,
              "invalid value for parameter \"TimeZone\": \"" + text + "\"")
          .withHint("Full names of the IANA database are known, for example Europe/Berlin.")
          .withPosition(at.start() + 1);
    }
    return zone;
  }
}
