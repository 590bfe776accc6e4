package dev.kakehashi.valuetext;

import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.protocol.ErrorCode;
import java.nio.charset.StandardCharsets;

/// Errors of texts that are no values, and of values out of their range, in PostgreSQL's words.
public final class ValueErrors {
  /// Longest text that a message shows whole.
  private static final int MAX_SHOWN_CHARACTERS = 100;

  /// Bytes of a text of which a message shows the beginning at most: four of them are a character.
  public static final int MAX_SHOWN_BYTES = 512;

  private ValueErrors() {}

  /// Text of a value from outside in a message: all of a short one, the beginning of a longer one.
  public static String shown(String text) {
    if (text.length() <= MAX_SHOWN_CHARACTERS) {
      return text;
    }
    int end = MAX_SHOWN_CHARACTERS / 2;
    return text.substring(0, Character.isHighSurrogate(text.charAt(end - 1)) ? end - 1 : end) + "…";
  }

  /// The same for bytes that may be anything.
  public static String shown(byte[] bytes, int from, int to) {
    int end = Math.min(to, from + MAX_SHOWN_BYTES);
    return shown(
        new String(bytes, from, end - from, StandardCharsets.UTF_8).replace('\0', '\uFFFD'));
  }

  /// 54000
  ///
  /// @param count of dimensions
  public static EngineException tooManyDimensions(int count, int most) {
    return new EngineException(
        ErrorCode.LIMIT_EXCEEDED,
        "number of array dimensions (" + count + ") exceeds the maximum allowed (" + most + ")");
  }

  /// 54000
  public static EngineException tooManyElements(int most) {
    return new EngineException(
        ErrorCode.LIMIT_EXCEEDED, "array size exceeds the maximum allowed (" + most + ")");
  }

  /// 22003 for floating-point numbers.
  public static EngineException textOutOfRange(String value, String typeName) {
    return new EngineException(
        ErrorCode.NUMERIC_VALUE_OUT_OF_RANGE,
        "\"" + shown(value) + "\" is out of range for type " + typeName);
  }

  /// 22003 for integers.
  public static EngineException valueOutOfRange(String value, String typeName) {
    return new EngineException(
        ErrorCode.NUMERIC_VALUE_OUT_OF_RANGE,
        "value \"" + shown(value) + "\" is out of range for type " + typeName);
  }

  /// 22003 for numerics.
  public static EngineException numericOverflow() {
    return new EngineException(
        ErrorCode.NUMERIC_VALUE_OUT_OF_RANGE, "value overflows numeric format");
  }

  public static EngineException invalidSyntax(String typeName, String value) {
    return new EngineException(
        ErrorCode.INVALID_TEXT_REPRESENTATION,
        "invalid input syntax for type " + typeName + ": \"" + shown(value) + "\"");
  }

  public static EngineException invalidDateTime(String typeName, String value) {
    return new EngineException(
        ErrorCode.INVALID_DATETIME_FORMAT,
        "invalid input syntax for type " + typeName + ": \"" + shown(value) + "\"");
  }

  public static EngineException fieldOutOfRange(String value) {
    return new EngineException(
        ErrorCode.DATETIME_OVERFLOW,
        "date/time field value out of range: \"" + shown(value) + "\"");
  }

  public static EngineException zoneOutOfRange(String value) {
    return new EngineException(
        ErrorCode.INVALID_TIME_ZONE_DISPLACEMENT,
        "time zone displacement out of range: \"" + shown(value) + "\"");
  }

  public static EngineException intervalFieldOverflow(String value, Throwable cause) {
    return new EngineException(
        ErrorCode.INTERVAL_FIELD_OVERFLOW,
        "interval field value out of range: \"" + shown(value) + "\"",
        cause);
  }

  /// 22008: `what` is "date", "timestamp" or "interval".
  public static EngineException dateTimeOutOfRange(String what) {
    return new EngineException(ErrorCode.DATETIME_OVERFLOW, what + " out of range");
  }

  public static EngineException datetimeOverflow(String message) {
    return new EngineException(ErrorCode.DATETIME_OVERFLOW, message);
  }
}
