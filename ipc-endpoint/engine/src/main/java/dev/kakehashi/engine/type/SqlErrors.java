package dev.kakehashi.engine.type;

import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.protocol.ErrorCode;
import dev.kakehashi.valuetext.ValueErrors;

/// Errors of functions, in PostgreSQL's words.
public final class SqlErrors {
  private SqlErrors() {}

  /// 22003: `typeName` is PostgreSQL's name as it stands in the message.
  public static EngineException outOfRange(String typeName) {
    return new EngineException(ErrorCode.NUMERIC_VALUE_OUT_OF_RANGE, typeName + " out of range");
  }

  public static EngineException floatOverflow() {
    return new EngineException(
        ErrorCode.NUMERIC_VALUE_OUT_OF_RANGE, "value out of range: overflow");
  }

  public static EngineException floatUnderflow() {
    return new EngineException(
        ErrorCode.NUMERIC_VALUE_OUT_OF_RANGE, "value out of range: underflow");
  }

  public static EngineException inputOutOfRange() {
    return new EngineException(ErrorCode.NUMERIC_VALUE_OUT_OF_RANGE, "input is out of range");
  }

  public static EngineException numericOverflow() {
    return ValueErrors.numericOverflow();
  }

  public static EngineException divisionByZero() {
    return new EngineException(ErrorCode.DIVISION_BY_ZERO, "division by zero");
  }

  /// 22P02 in other words.
  public static EngineException invalidSyntaxMessage(String message) {
    return new EngineException(ErrorCode.INVALID_TEXT_REPRESENTATION, message);
  }

  public static EngineException invalidParameter(String message) {
    return new EngineException(ErrorCode.INVALID_PARAMETER_VALUE, message);
  }

  public static EngineException notSupported(String message) {
    return new EngineException(ErrorCode.FEATURE_NOT_SUPPORTED, message);
  }

  public static EngineException arraySubscript(String message) {
    return new EngineException(ErrorCode.ARRAY_SUBSCRIPT_ERROR, message);
  }

  /// 42804 for a literal without type where it would say the type of a polymorphic function.
  public static EngineException undeterminedPolymorphicType() {
    return new EngineException(
        ErrorCode.DATATYPE_MISMATCH,
        "could not determine polymorphic type because input has type unknown");
  }

  public static EngineException lengthTooLarge() {
    return new EngineException(ErrorCode.LIMIT_EXCEEDED, "requested length too large");
  }

  /// 22001, for example "character varying(10)".
  public static EngineException tooLong(String typeName) {
    return new EngineException(
        ErrorCode.STRING_DATA_RIGHT_TRUNCATION, "value too long for type " + typeName);
  }
}
