package dev.kakehashi.requests;

import dev.kakehashi.engine.api.ClientSession;
import dev.kakehashi.engine.api.Viewer;
import dev.kakehashi.protocol.messages.TransactionState;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.BiConsumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/// All sessions of all interfaces, for the engine's table of them.
///
/// Any thread. State that the poller and the workers change meanwhile is read as it is at some moment of the call. Each session is true by
/// itself, all together are no snapshot.
final class ClientSessions implements Supplier<List<ClientSession>> {
  private static final Instant POSTGRES_EPOCH = Instant.parse("2000-01-01T00:00:00Z");

  private final List<ClientSource> sources = new CopyOnWriteArrayList<>();

  /// Adds the clients of an interface.
  void add(ClientSource source) {
    sources.add(source);
  }

  @Override
  public List<ClientSession> get() {
    List<ClientSession> sessions = new ArrayList<>();
    BiConsumer<RequestClient, @Nullable ClientRequests> each =
        (client, requests) -> sessions.add(of(client, requests));
    sources.forEach(source -> source.forEachClient(each));
    return sessions;
  }

  /// Requests of a session; null: there is no such session, or it has sent nothing. Poller only.
  @Nullable ClientRequests find(long id) {
    List<ClientRequests> found = new ArrayList<>(1);
    BiConsumer<RequestClient, @Nullable ClientRequests> each =
        (client, requests) -> {
          if (client.id() == id && requests != null) {
            found.add(requests);
          }
        };
    sources.forEach(source -> source.forEachClient(each));
    return found.isEmpty() ? null : found.getFirst();
  }

  private static ClientSession of(RequestClient client, @Nullable ClientRequests requests) {
    StatementRequest latest = null;
    OpenTransaction transaction = null;
    ClientRequests.Preparing planned = null;
    int running = 0;
    Viewer owner = client.firstViewer();
    // Before its first request a session has nothing of ours.
    if (requests != null) {
      owner = requests.viewer();
      planned = requests.planned();
      OpenTransaction shown = requests.shownTransaction();
      // One that has ended is forgotten only some time after its client has been told.
      transaction = shown != null && shown.state() == TransactionState.ACTIVE ? shown : null;
      List<StatementRequest> now = requests.running().list();
      running = now.size();
      for (StatementRequest request : now) {
        latest = later(latest, request);
      }
    }
    if (latest != null) {
      owner = latest.viewer(); // it may have begun for another role than the session's of now
      planned = null;
    } else if (planned != null) {
      owner = planned.viewer();
    }
    ClientSession.State state =
        latest != null
            ? ClientSession.State.ACTIVE
            : planned != null
                ? ClientSession.State.PLANNING
                : transaction != null
                    ? ClientSession.State.IDLE_IN_TRANSACTION
                    : ClientSession.State.IDLE;
    String statement = latest != null ? latest.sql() : planned == null ? null : planned.sql();
    Long statementMicros =
        latest != null
            ? (Long) micros(latest.beganAt())
            : planned == null ? null : (Long) micros(planned.beganAt());
    return new ClientSession(
        client.id(),
        new ClientSession.Client(
            client.kind(),
            client.applicationName(),
            client.processId(),
            client.pidNamespace(),
            client.osUserName()),
        client.userName(),
        micros(client.attachedAt()),
        new ClientSession.Work(
            state,
            transaction == null ? 0 : transaction.handle(),
            statement,
            statementMicros,
            running),
        owner,
        client.traffic());
  }

  private static StatementRequest later(@Nullable StatementRequest one, StatementRequest other) {
    return one == null || other.beganNanos() - one.beganNanos() > 0 ? other : one;
  }

  private static long micros(Instant instant) {
    return ChronoUnit.MICROS.between(POSTGRES_EPOCH, instant);
  }
}
