package dev.kakehashi.engine.api.error;

import dev.kakehashi.protocol.ErrorCode;
import dev.kakehashi.protocol.capability.Capabilities;
import dev.kakehashi.protocol.capability.Capability;
import org.jspecify.annotations.Nullable;

/// A failure with a code of the project's error table, in PostgreSQL's fields.
///
/// Carries no stack trace unless the code is INTERNAL_ERROR or a cause is given: user errors are results, and are cheap.
public final class EngineException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  private final ErrorCode code;
  private String detail = "";
  private String hint = "";
  private String schemaName = "";
  private String tableName = "";
  private String columnName = "";
  private String constraintName = "";
  private int position;
  private String sqlstate = "";

  public EngineException(ErrorCode code, String message) {
    this(code, message, null);
  }

  public EngineException(ErrorCode code, String message, @Nullable Throwable cause) {
    super(message, cause, false, cause != null || code == ErrorCode.INTERNAL_ERROR);
    this.code = code;
  }

  /// Refusal of something that an engine cannot do: FEATURE_NOT_SUPPORTED, with the name of the capability as detail.
  public static EngineException lacking(Capabilities capabilities, Capability capability) {
    return new EngineException(ErrorCode.FEATURE_NOT_SUPPORTED, capabilities.lacking(capability))
        .withDetail("Capability " + capability.name() + " is absent.");
  }

  public ErrorCode code() {
    return code;
  }

  /// The code's, or that of [#withSqlstate].
  public String sqlstate() {
    return sqlstate.isEmpty() ? code.sqlstate() : sqlstate;
  }

  public String detail() {
    return detail;
  }

  public String hint() {
    return hint;
  }

  public String schemaName() {
    return schemaName;
  }

  public String tableName() {
    return tableName;
  }

  public String columnName() {
    return columnName;
  }

  public String constraintName() {
    return constraintName;
  }

  /// Character in the statement, from 1; 0: none.
  public int position() {
    return position;
  }

  /// An SQLSTATE that is not the code's: users' own code has raised it.
  ///
  /// @param sqlstate five digits or upper case letters
  public EngineException withSqlstate(String sqlstate) {
    this.sqlstate = sqlstate;
    return this;
  }

  public EngineException withDetail(String detail) {
    this.detail = detail;
    return this;
  }

  public EngineException withHint(String hint) {
    this.hint = hint;
    return this;
  }

  public EngineException withTable(String schemaName, String tableName) {
    this.schemaName = schemaName;
    this.tableName = tableName;
    return this;
  }

  public EngineException withColumn(String columnName) {
    this.columnName = columnName;
    return this;
  }

  public EngineException withConstraint(String constraintName) {
    this.constraintName = constraintName;
    return this;
  }

  public EngineException withPosition(int position) {
    this.position = position;
    return this;
  }
}
