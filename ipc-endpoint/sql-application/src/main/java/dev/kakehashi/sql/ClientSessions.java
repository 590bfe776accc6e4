package dev.kakehashi.sql;

import dev.kakehashi.engine.api.ClientSession;
import dev.kakehashi.engine.api.Viewer;
import dev.kakehashi.protocol.messages.ClientKind;
import dev.kakehashi.protocol.messages.TransactionState;
import dev.kakehashi.transport.endpoint.EndpointSession;
import dev.kakehashi.transport.endpoint.TransportEndpoint;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/// All sessions of the endpoint, for the engine's table of them.
///
/// Any thread. What the poller and the workers change meanwhile is read as it is at some moment of the call: each session is true by itself, all together are no snapshot.
final class ClientSessions implements Supplier<List<ClientSession>> {
  private static final Instant POSTGRES_EPOCH = Instant.parse("2000-01-01T00:00:00Z");

  private final TransportEndpoint endpoint;

  ClientSessions(TransportEndpoint endpoint) {
    this.endpoint = endpoint;
  }

  @Override
  public List<ClientSession> get() {
    List<ClientSession> sessions = new ArrayList<>();
    for (EndpointSession session : endpoint.sessions()) {
      sessions.add(of(session));
    }
    return sessions;
  }

  private static ClientSession of(EndpointSession session) {
    StatementRequest latest = null;
    OpenTransaction transaction = null;
    int running = 0;
    Viewer owner = Viewers.first(session);
    // Before its first request a session has nothing of ours.
    if (session.attachment() instanceof SqlSession known) {
      owner = known.viewer();
      OpenTransaction shown = known.shownTransaction();
      // One that has ended is forgotten only some time after its client has been told.
      transaction = shown != null && shown.state() == TransactionState.ACTIVE ? shown : null;
      for (int slot = 0; slot < known.running().length(); slot++) {
        StatementRequest request = known.running().get(slot);
        if (request != null) {
          running++;
          latest = later(latest, request);
        }
      }
    }
    if (latest != null) {
      owner = latest.viewer(); // it may have begun for another role than the session's of now
    }
    ClientSession.State state =
        latest != null
            ? ClientSession.State.ACTIVE
            : transaction != null
                ? ClientSession.State.IDLE_IN_TRANSACTION
                : ClientSession.State.IDLE;
    EndpointSession.Traffic traffic = session.traffic();
    return new ClientSession(
        session.id(),
        session.kind() == ClientKind.POSTGRESQL_BACKEND ? "postgresql" : "java",
        session.applicationName(),
        session.displayedProcessId(),
        session.pidNamespace(),
        session.osUserName(),
        session.userName(),
        micros(session.attachedAt()),
        state,
        transaction == null ? 0 : transaction.handle(),
        latest == null ? null : latest.sql(),
        latest == null ? null : micros(latest.beganAt()),
        running,
        owner,
        new ClientSession.Traffic(
            traffic.requests(),
            traffic.rows(),
            traffic.batches(),
            traffic.bytes(),
            traffic.waits(),
            session.usedBytes()));
  }

  private static StatementRequest later(@Nullable StatementRequest one, StatementRequest other) {
    return one == null || other.beganNanos() - one.beganNanos() > 0 ? other : one;
  }

  private static long micros(Instant instant) {
    return ChronoUnit.MICROS.between(POSTGRES_EPOCH, instant);
  }
}
