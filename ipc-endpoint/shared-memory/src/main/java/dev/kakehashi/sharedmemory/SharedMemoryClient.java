package dev.kakehashi.sharedmemory;

import dev.kakehashi.engine.api.ClientSession;
import dev.kakehashi.engine.api.Viewer;
import dev.kakehashi.protocol.messages.ClientKind;
import dev.kakehashi.requests.RequestClient;
import dev.kakehashi.transport.endpoint.EndpointSession;
import dev.kakehashi.transport.os.Credentials;
import java.time.Instant;

/// A client that has attached to shared memory. Thread-safe.
record SharedMemoryClient(EndpointSession session) implements RequestClient {
  @Override
  public long id() {
    return session.id();
  }

  @Override
  public String kind() {
    return session.kind() == ClientKind.POSTGRESQL_BACKEND ? "postgresql" : "java";
  }

  @Override
  public boolean endsItsTransactions() {
    return session.kind() == ClientKind.POSTGRESQL_BACKEND;
  }

  @Override
  public String userName() {
    return session.userName();
  }

  @Override
  public int uid() {
    return session.uid();
  }

  @Override
  public String principal() {
    return Viewers.principal(session);
  }

  @Override
  public Viewer firstViewer() {
    return Viewers.first(session);
  }

  /// The OS user that runs the endpoint could as well end it.
  @Override
  public boolean mayCancelAll() {
    return session.uid() == Credentials.ownUid();
  }

  @Override
  public String applicationName() {
    return session.applicationName();
  }

  @Override
  public long processId() {
    return session.displayedProcessId();
  }

  @Override
  public long pidNamespace() {
    return session.pidNamespace();
  }

  @Override
  public String osUserName() {
    return session.osUserName();
  }

  @Override
  public Instant attachedAt() {
    return session.attachedAt();
  }

  @Override
  public ClientSession.Traffic traffic() {
    EndpointSession.Traffic traffic = session.traffic();
    return new ClientSession.Traffic(
        traffic.requests(),
        traffic.rows(),
        traffic.batches(),
        traffic.bytes(),
        traffic.waits(),
        session.usedBytes(),
        traffic.directReads());
  }
}
