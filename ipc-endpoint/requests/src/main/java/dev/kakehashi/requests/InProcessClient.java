package dev.kakehashi.requests;

import dev.kakehashi.engine.api.ClientSession;
import dev.kakehashi.engine.api.Viewer;
import java.time.Instant;
import java.util.concurrent.atomic.LongAdder;

/// A client of an interface in this process, and what it has been sent. Thread-safe.
final class InProcessClient implements RequestClient {
  private final long id;
  private final RequestUser user;
  private final String kind;
  private final String applicationName;
  private final Instant attachedAt = Instant.now();
  private final LongAdder requests = new LongAdder();
  private final LongAdder rows = new LongAdder();
  private final LongAdder batches = new LongAdder();
  private final LongAdder bytes = new LongAdder();
  private final LongAdder waits = new LongAdder();

  InProcessClient(long id, RequestUser user, String kind, String applicationName) {
    this.id = id;
    this.user = user;
    this.kind = kind;
    this.applicationName = applicationName;
  }

  RequestUser user() {
    return user;
  }

  void answered() {
    requests.increment();
  }

  void sent(int batchBytes, int rowCount) {
    batches.increment();
    rows.add(rowCount);
    bytes.add(batchBytes);
  }

  void waited() {
    waits.increment();
  }

  @Override
  public long id() {
    return id;
  }

  @Override
  public String kind() {
    return kind;
  }

  @Override
  public String userName() {
    return user.name();
  }

  @Override
  public int uid() {
    return NO_UID;
  }

  /// Its user, apart from the numbers of OS users.
  @Override
  public String principal() {
    return user.isOperator() ? "" : "@" + user.name();
  }

  @Override
  public Viewer firstViewer() {
    return new Viewer(
        principal(), user.name(), "", user.isOperator() ? Viewer.Sight.ALL : Viewer.Sight.USER);
  }

  @Override
  public boolean mayCancelAll() {
    return user.isOperator();
  }

  @Override
  public String applicationName() {
    return applicationName;
  }

  @Override
  public long processId() {
    return 0;
  }

  @Override
  public long pidNamespace() {
    return 0;
  }

  @Override
  public String osUserName() {
    return "";
  }

  @Override
  public Instant attachedAt() {
    return attachedAt;
  }

  @Override
  public ClientSession.Traffic traffic() {
    return new ClientSession.Traffic(
        requests.sum(), rows.sum(), batches.sum(), bytes.sum(), waits.sum(), 0, 0);
  }
}
