package dev.kakehashi.engine.type.value;

import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.engine.type.SqlErrors;
import dev.kakehashi.engine.type.Varlena;
import dev.kakehashi.engine.type.text.Quoting;
import dev.kakehashi.protocol.ErrorCode;
import org.jspecify.annotations.Nullable;

/// format(): `%[position$][flags][width]type` with the types s, I and L.
public final class TextFormat {
  /// Arguments of the call as texts.
  @FunctionalInterface
  public interface Arguments {
    /// @param number 1 is the first after the format
    @Nullable String text(int number);
  }

  private static final int NEXT = 0;
  private static final int NONE = -1;

  private final String format;
  private final int argumentCount;
  private final Arguments arguments;
  private final StringBuilder out = new StringBuilder();
  private int at;

  /// Number that parseNumber() has read.
  private int number;

  /// The argument that comes next.
  private int next = 1;

  private TextFormat(String format, int argumentCount, Arguments arguments) {
    this.format = format;
    this.argumentCount = argumentCount;
    this.arguments = arguments;
  }

  /// @param argumentCount with the format
  /// @throws EngineException with PostgreSQL's SQLSTATE for a format or width that PostgreSQL refuses
  public static String format(String format, int argumentCount, Arguments arguments) {
    TextFormat formatter = new TextFormat(format, argumentCount, arguments);
    while (formatter.at < format.length()) {
      char c = format.charAt(formatter.at);
      if (c != '%') {
        formatter.out.append(c);
        formatter.at++;
        continue;
      }
      formatter.advance();
      if (format.charAt(formatter.at) == '%') {
        formatter.out.append('%');
      } else {
        formatter.specifier();
      }
      formatter.at++;
    }
    return formatter.out.toString();
  }

  private void specifier() {
    int position = NONE;
    int width = 0;
    int widthPosition = NONE;
    boolean left = false;
    boolean onlyWidth = false;
    if (parseNumber()) {
      if (current() == '$') {
        position = positive(number);
        advance();
      } else {
        width = number;
        onlyWidth = true;
      }
    }
    if (!onlyWidth) {
      while (current() == '-') {
        left = true;
        advance();
      }
      if (current() == '*') {
        advance();
        widthPosition = NEXT;
        if (parseNumber()) {
          if (current() != '$') {
            throw SqlErrors.invalidParameter("width argument position must be ended by \"$\"");
          }
          widthPosition = positive(number);
          advance();
        }
      } else if (parseNumber()) {
        width = number;
      }
    }
    char type = current();
    if (type != 's' && type != 'I' && type != 'L') {
      String shown = format.substring(at, format.offsetByCodePoints(at, 1));
      throw SqlErrors.invalidParameter("unrecognized format() type specifier \"" + shown + "\"")
          .withHint("For a single \"%\" use \"%%\".");
    }
    if (widthPosition != NONE) {
      String text = argument(widthPosition);
      width = text == null ? 0 : Values.parseInt4(text);
    }
    pad(converted(type, argument(position == NONE ? NEXT : position)), width, left);
  }

  private static String converted(char type, @Nullable String value) {
    if (type == 'L') {
      return value == null ? "NULL" : Quoting.literal(value);
    }
    if (type == 's') {
      return value == null ? "" : value;
    }
    if (value == null) {
      throw new EngineException(
          ErrorCode.NULL_VALUE_NOT_ALLOWED, "null values cannot be formatted as an SQL identifier");
    }
    return Quoting.identifier(value);
  }

  private void pad(String value, int width, boolean left) {
    if (width == Integer.MIN_VALUE) {
      throw outOfRange();
    }
    int blanks = Math.max(0, Math.abs(width) - value.codePointCount(0, value.length()));
    if ((long) out.length() + value.length() + blanks > Varlena.MAX_BYTES - Varlena.HEADER_BYTES) {
      throw SqlErrors.lengthTooLarge();
    }
    if (left || width < 0) {
      out.append(value).repeat(" ", blanks);
    } else {
      out.repeat(" ", blanks).append(value);
    }
  }

  private @Nullable String argument(int position) {
    int taken = position == NEXT ? next : position;
    if (taken >= argumentCount) {
      throw SqlErrors.invalidParameter("too few arguments for format()");
    }
    next = taken + 1;
    return arguments.text(taken);
  }

  private static int positive(int position) {
    if (position == 0) {
      throw SqlErrors.invalidParameter(
          "format specifies argument 0, but arguments are numbered from 1");
    }
    return position;
  }

  /// Reads digits into `number`, if there are any.
  private boolean parseNumber() {
    long value = 0;
    int start = at;
    while (current() >= '0' && current() <= '9') {
      value = 10 * value + (current() - '0');
      if (value > Integer.MAX_VALUE) {
        throw outOfRange();
      }
      advance();
    }
    number = (int) value;
    return at > start;
  }

  private static EngineException outOfRange() {
    return new EngineException(ErrorCode.NUMERIC_VALUE_OUT_OF_RANGE, "number is out of range");
  }

  private char current() {
    return format.charAt(at);
  }

  private void advance() {
    if (++at >= format.length()) {
      throw SqlErrors.invalidParameter("unterminated format() type specifier")
          .withHint("For a single \"%\" use \"%%\".");
    }
  }
}
