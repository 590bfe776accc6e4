package dev.kakehashi.rest.problem;

import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.protocol.ErrorCode;

/// The HTTP status of an error code: by its SQLSTATE's class, with the exceptions that clients of HTTP expect.
final class ErrorStatus {
  private ErrorStatus() {}

  static int of(EngineException failure) {
    ErrorCode code = failure.code();
    return switch (code) {
      case INSUFFICIENT_PRIVILEGE -> 403;
      case NO_SUCH_TRANSACTION,
          LEASE_EXPIRED,
          IDLE_IN_TRANSACTION_TIMEOUT,
          TRANSACTION_TERMINATED,
          UNDEFINED_FILE ->
          404;
      case DUPLICATE_FILE -> 409;
      case SHUTTING_DOWN -> 503;
      case DISK_FULL, TEMP_SPACE_EXCEEDED -> 507;
      case LIMIT_EXCEEDED -> 413;
      case COMMIT_TIMEOUT -> 504;
      // Neither to be repeated blindly nor known to have failed: whoever reads it has to ask for
      // the outcome.
      case TRANSACTION_RESOLUTION_UNKNOWN -> 500;
      case CANNOT_CONNECT_NOW -> 503;
      case VERSION_MISMATCH, MALFORMED_MESSAGE, INVALID_STATEMENT, UNDEFINED_SCHEMA -> 400;
      case CARDINALITY_VIOLATION -> 422;
      default -> ofClass(failure.sqlstate().substring(0, 2));
    };
  }

  private static int ofClass(String sqlClass) {
    return switch (sqlClass) {
      case "22", "23", "P0" -> 422;
      case "25", "27", "2B", "3B", "40", "55" -> 409;
      case "57" -> 409;
      case "28" -> 401;
      case "42" -> 400;
      case "53", "08" -> 503;
      case "54" -> 413;
      case "0A" -> 501;
      default -> 500;
    };
  }
}
