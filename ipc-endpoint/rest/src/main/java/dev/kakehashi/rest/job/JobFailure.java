package dev.kakehashi.rest.job;

import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.protocol.ErrorCode;

/// Why a job has no result: the fields of an [EngineException], which outlive the process. Immutable.
///
/// @param position character in the statement, from 1; 0: none
public record JobFailure(
    ErrorCode code,
    String message,
    String detail,
    String hint,
    String schemaName,
    String tableName,
    String columnName,
    String constraintName,
    int position) {

  /// Most characters of each text that is kept.
  public static final int TEXT_CHARACTERS = 4_000;

  public static JobFailure of(EngineException e) {
    return new JobFailure(
        e.code(),
        JobRecord.beginning(String.valueOf(e.getMessage()), TEXT_CHARACTERS),
        JobRecord.beginning(e.detail(), TEXT_CHARACTERS),
        JobRecord.beginning(e.hint(), TEXT_CHARACTERS),
        e.schemaName(),
        e.tableName(),
        e.columnName(),
        e.constraintName(),
        e.position());
  }

  static JobFailure of(ErrorCode code, String message) {
    return of(new EngineException(code, message));
  }

  /// Whether it is one whose reason the log alone tells.
  public boolean isInternal() {
    return isInternal(code);
  }

  static boolean isInternal(ErrorCode code) {
    return code.category() == ErrorCode.Category.INTERNAL && code != ErrorCode.IO_ERROR;
  }

  public EngineException toException() {
    return new EngineException(code, message)
        .withDetail(detail)
        .withHint(hint)
        .withTable(schemaName, tableName)
        .withColumn(columnName)
        .withConstraint(constraintName)
        .withPosition(position);
  }
}
