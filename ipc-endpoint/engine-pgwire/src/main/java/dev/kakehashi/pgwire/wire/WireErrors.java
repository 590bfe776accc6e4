package dev.kakehashi.pgwire.wire;

import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.protocol.ErrorCode;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;

/// The server's errors in the project's terms: the SQLSTATE stays, except where the server is at fault.
public final class WireErrors {
  private static final Map<String, ErrorCode> CODES = new HashMap<>();

  static {
    for (ErrorCode code : ErrorCode.values()) {
      CODES.putIfAbsent(code.sqlstate(), code);
    }
    // Violations of the protocol are this side's mistakes.
    CODES.remove(ErrorCode.MALFORMED_MESSAGE.sqlstate());
  }

  /// Connections that a server makes itself do not exist, break, or cannot be made.
  private static final Set<String> OF_NODES = Set.of("08000", "08001", "08003", "08006");

  private WireErrors() {}

  /// Whether a server that spreads its rows could not reach one of its nodes. Its own connection is sound.
  public static boolean isOfNode(ServerError error) {
    return OF_NODES.contains(error.sqlstate());
  }

  /// An error of a statement.
  public static EngineException of(ServerError error) {
    if (isOfNode(error)) {
      // An error of class 08 would tell the client that its own connection is lost.
      return new EngineException(
              ErrorCode.CANNOT_CONNECT_NOW,
              "a node of the engine cannot be reached: " + error.getMessage())
          .withDetail(error.detail())
          .withHint(error.hint());
    }
    ErrorCode code = CODES.get(error.sqlstate());
    EngineException result;
    if (code != null) {
      result =
          new EngineException(code, String.valueOf(error.getMessage())).withDetail(error.detail());
    } else {
      ErrorCode ofClass = ofClass(error.sqlstate());
      result = new EngineException(ofClass, String.valueOf(error.getMessage()));
      if (ofClass == ErrorCode.INTERNAL_ERROR) {
        String said = "The server's SQLSTATE is " + error.sqlstate() + ".";
        result.withDetail(error.detail().isEmpty() ? said : error.detail() + "\n" + said);
      } else {
        result.withSqlstate(error.sqlstate()).withDetail(error.detail());
      }
    }
    return result
        .withHint(error.hint())
        .withTable(error.schemaName(), error.tableName())
        .withColumn(error.columnName())
        .withConstraint(error.constraintName())
        .withPosition(error.position());
  }

  /// For an SQLSTATE that the project's table does not have.
  private static ErrorCode ofClass(String sqlstate) {
    return switch (sqlstate.substring(0, 2)) {
      case "22" -> ErrorCode.DATA_EXCEPTION;
      case "23" -> ErrorCode.CHECK_VIOLATION;
      case "40" -> ErrorCode.SERIALIZATION_FAILURE;
      case "42" -> ErrorCode.SYNTAX_ERROR;
      case "53" -> ErrorCode.OUT_OF_SLOTS;
      case "54" -> ErrorCode.LIMIT_EXCEEDED;
      case "55" -> ErrorCode.NOT_IN_PREREQUISITE_STATE;
      case "XX", "08", "58", "F0" -> ErrorCode.INTERNAL_ERROR;
      default -> ErrorCode.RAISE_EXCEPTION;
    };
  }

  /// Whether an error of COMMIT or PREPARE TRANSACTION does not say that nothing has happened: a server of a group may fail to hear what
  /// the others have decided.
  public static boolean leavesOpen(ServerError error) {
    String sqlstate = error.sqlstate();
    return switch (sqlstate.substring(0, 2)) {
      case "08", "58", "XX", "F0" -> true;
      case "57" -> sqlstate.startsWith("57P");
      case "40" -> sqlstate.equals("40003");
      default -> false;
    };
  }

  /// The connection was lost before the transaction began to commit: it has changed nothing, and may be tried again.
  public static EngineException lost(RuntimeException cause) {
    return new EngineException(
            ErrorCode.SERIALIZATION_FAILURE,
            "the connection to the engine was lost, and the transaction with it: "
                + cause.getMessage())
        .withHint("The transaction has changed nothing and can be tried again.");
  }
}
