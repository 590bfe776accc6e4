package dev.kakehashi.sharedmemory;

import dev.kakehashi.engine.api.Statement;
import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.protocol.ErrorCode;
import dev.kakehashi.requests.ClientRequests;
import dev.kakehashi.transport.endpoint.EndpointSession;
import java.util.Arrays;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/// A session of shared memory: its requests, and its prepared statements by the numbers that its client has given them. Poller only.
final class SharedMemorySession {
  /// A prepared statement, or why there is none.
  private record Prepared(@Nullable Statement statement, @Nullable EngineException failure) {}

  private final EndpointSession endpointSession;
  private final ClientRequests requests;
  private final PreparedCalls calls = new PreparedCalls();
  private @Nullable Prepared[] statements = new Prepared[16];

  SharedMemorySession(EndpointSession endpointSession, ClientRequests requests) {
    this.endpointSession = endpointSession;
    this.requests = requests;
  }

  EndpointSession endpointSession() {
    return endpointSession;
  }

  /// Any thread.
  ClientRequests requests() {
    return requests;
  }

  PreparedCalls calls() {
    return calls;
  }

  /// @throws EngineException INVALID_STATEMENT, or why it could not be prepared
  Statement statement(long id) {
    Prepared prepared = id >= 0 && id < statements.length ? statements[(int) id] : null;
    if (prepared == null) {
      throw new EngineException(
          ErrorCode.INVALID_STATEMENT, "prepared statement " + id + " does not exist");
    }
    if (prepared.failure() != null) {
      throw prepared.failure();
    }
    return Objects.requireNonNull(prepared.statement());
  }

  /// @param id within the limit of a session
  /// @param statement null: it could not be prepared
  void prepared(int id, @Nullable Statement statement, @Nullable EngineException failure) {
    if (id >= statements.length) {
      statements = Arrays.copyOf(statements, Math.max(id + 1, 2 * statements.length));
    }
    statements[id] = new Prepared(statement, failure);
  }

  void closeStatement(int id) {
    if (id < statements.length) {
      statements[id] = null;
    }
  }
}
