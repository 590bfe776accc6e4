package dev.kakehashi.queue.system;

import dev.kakehashi.engine.api.queue.QueueHost;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/// Whether the queues run, and the host that serves them then. Before the start the log is replayed, and nothing is handed out.
///
/// Written once, in the critical section of the start; read by any thread.
public final class QueueRun {
  private volatile @Nullable QueueHost host;

  void start(QueueHost to) {
    host = to;
  }

  public boolean isStarted() {
    return host != null;
  }

  /// @return null: the queues have not started
  public @Nullable QueueHost hostIfStarted() {
    return host;
  }

  public QueueHost host() {
    return Objects.requireNonNull(host, "not started");
  }
}
