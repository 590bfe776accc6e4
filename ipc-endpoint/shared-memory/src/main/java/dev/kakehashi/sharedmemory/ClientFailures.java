package dev.kakehashi.sharedmemory;

import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.protocol.ErrorCode;
import dev.kakehashi.protocol.Failure;
import dev.kakehashi.transport.TransportException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Exceptions as what clients see.
final class ClientFailures {
  private static final Logger LOG = LoggerFactory.getLogger(ClientFailures.class);

  static Failure of(EngineException e) {
    if (e.code() == ErrorCode.INTERNAL_ERROR) {
      LOG.error("internal error of the engine", e);
    }
    return new Failure(
        e.code().number(),
        e.sqlstate(),
        String.valueOf(e.getMessage()),
        e.detail(),
        e.hint(),
        e.schemaName(),
        e.tableName(),
        e.columnName(),
        e.constraintName(),
        e.position(),
        false);
  }

  /// A failure for whatever was thrown.
  static Failure of(Throwable e) {
    return switch (e) {
      case EngineException engine -> of(engine);
      case TransportException transport -> transport.failure();
      default -> {
        LOG.error("internal error", e);
        yield Failure.of(ErrorCode.INTERNAL_ERROR, "internal error: " + e);
      }
    };
  }

  private ClientFailures() {}
}
