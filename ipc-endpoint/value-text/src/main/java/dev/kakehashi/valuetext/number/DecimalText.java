package dev.kakehashi.valuetext.number;

import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.protocol.value.PgNumeric;
import dev.kakehashi.protocol.value.PgNumeric.Kind;
import dev.kakehashi.valuetext.Spaces;
import dev.kakehashi.valuetext.ValueErrors;
import java.math.BigDecimal;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/// Decimal numbers as text: their grammar, which numerics and floating-point numbers share, and the range of numerics.
public final class DecimalText {
  /// Digits of a numeric before its point.
  private static final int MAX_WHOLE_DIGITS = 131_072;

  /// Characters of a numeric that has no needless zeros.
  private static final int MAX_NUMERIC_CHARACTERS = MAX_WHOLE_DIGITS + PgNumeric.MAX_SCALE + 32;

  /// Characters of an exponent that is read, with its sign.
  private static final int MAX_EXPONENT_CHARACTERS = 11;

  private DecimalText() {}

  /// Digits with a sign before them, a point between them and an exponent behind them.
  public static boolean isDecimal(String text) {
    int length = text.length();
    int at = length > 0 && (text.charAt(0) == '+' || text.charAt(0) == '-') ? 1 : 0;
    int whole = digitsFrom(text, at);
    int digits = whole - at;
    at = whole;
    if (at < length && text.charAt(at) == '.') {
      int end = digitsFrom(text, at + 1);
      digits += end - at - 1;
      at = end;
    }
    if (digits == 0) {
      return false;
    }
    if (at < length && (text.charAt(at) == 'e' || text.charAt(at) == 'E')) {
      at++;
      if (at < length && (text.charAt(at) == '+' || text.charAt(at) == '-')) {
        at++;
      }
      int end = digitsFrom(text, at);
      return end > at && end == length;
    }
    return at == length;
  }

  private static int digitsFrom(String text, int from) {
    int at = from;
    while (at < text.length() && text.charAt(at) >= '0' && text.charAt(at) <= '9') {
      at++;
    }
    return at;
  }

  /// Kind of number that a word means, in letters of any case; null: it means none.
  ///
  /// @param text without blanks around it
  public static @Nullable Kind word(String text) {
    char last = text.isEmpty() ? '0' : text.charAt(text.length() - 1);
    if (last >= '0' && last <= '9') {
      return null;
    }
    return switch (text.toLowerCase(Locale.ROOT)) {
      case "nan" -> Kind.NAN;
      case "infinity", "+infinity", "inf", "+inf" -> Kind.POSITIVE_INFINITY;
      case "-infinity", "-inf" -> Kind.NEGATIVE_INFINITY;
      default -> null;
    };
  }

  /// Where the exponent of a finite numeric begins; -1: it has none.
  ///
  /// @param trimmed the text without blanks around it
  /// @throws EngineException INVALID_TEXT_REPRESENTATION if it is no decimal number; also for exponents beyond half of int's range, as
  ///     PostgreSQL has it
  public static int checkNumeric(String trimmed, String text) {
    if (!isDecimal(trimmed)) {
      throw ValueErrors.invalidSyntax("numeric", text);
    }
    int e = Math.max(trimmed.indexOf('e'), trimmed.indexOf('E'));
    if (e >= 0) {
      String exponent = trimmed.substring(e + 1);
      if (exponent.length() > MAX_EXPONENT_CHARACTERS
          || Math.abs(Long.parseLong(exponent)) >= Integer.MAX_VALUE / 2) {
        throw ValueErrors.invalidSyntax("numeric", text);
      }
    }
    return e;
  }

  /// Whether a number is too small to be told from zero in a numeric.
  ///
  /// @param scale digits behind the point; negative: so many zeros follow
  /// @param precision its digits, without zeros in front
  /// @throws EngineException NUMERIC_VALUE_OUT_OF_RANGE: it has too many digits before or after the point
  public static boolean vanishes(long scale, long precision, boolean isZero) {
    long wholeDigits = precision - scale;
    if (scale > PgNumeric.MAX_SCALE) {
      if (wholeDigits < -MAX_WHOLE_DIGITS && !isZero) {
        return true;
      }
      throw ValueErrors.numericOverflow();
    }
    if (!isZero && wholeDigits > MAX_WHOLE_DIGITS) {
      throw ValueErrors.numericOverflow();
    }
    return false;
  }

  /// Reads a numeric, with blanks around it.
  ///
  /// @throws EngineException INVALID_TEXT_REPRESENTATION, or NUMERIC_VALUE_OUT_OF_RANGE
  public static PgNumeric parse(String text) {
    Kind word = word(Spaces.trim(text));
    if (word == null) {
      return PgNumeric.of(finite(text));
    }
    return switch (word) {
      case NAN -> PgNumeric.NAN;
      case POSITIVE_INFINITY -> PgNumeric.POSITIVE_INFINITY;
      default -> PgNumeric.NEGATIVE_INFINITY;
    };
  }

  /// Reads a finite numeric, with blanks around it. Its scale is not negative.
  ///
  /// @throws EngineException INVALID_TEXT_REPRESENTATION, or NUMERIC_VALUE_OUT_OF_RANGE
  public static BigDecimal finite(String text) {
    String trimmed = Spaces.trim(text);
    checkNumeric(trimmed, text);
    if (trimmed.length() > MAX_NUMERIC_CHARACTERS) {
      throw ValueErrors.numericOverflow();
    }
    BigDecimal value = new BigDecimal(trimmed);
    boolean isZero = value.signum() == 0;
    if (vanishes(value.scale(), value.precision(), isZero)) {
      return BigDecimal.ZERO.setScale(PgNumeric.MAX_SCALE);
    }
    if (value.scale() >= 0) {
      return value;
    }
    return isZero ? BigDecimal.ZERO : value.setScale(0);
  }
}
