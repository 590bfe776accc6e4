package dev.kakehashi.client;

import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/// A queue in a session of one thread's own, which is attached anew when the endpoint has ended it. Used by that thread; [#cancelWait()]
/// may come from any.
final class QueueLink implements AutoCloseable {
  private static final long FIRST_PAUSE_MILLIS = 50;
  private static final long LONGEST_PAUSE_MILLIS = 5_000;

  private final TaskQueue pattern;
  private final String application;
  private final CountDownLatch stop;
  private volatile @Nullable TaskQueue queue;
  private long pauseMillis;

  /// @param stop at zero nothing is attached any more
  QueueLink(TaskQueue pattern, String application, CountDownLatch stop) {
    this.pattern = pattern;
    this.application = application;
    this.stop = stop;
  }

  /// The queue in a session that lives.
  ///
  /// @throws EndpointException it cannot be attached
  TaskQueue queue() {
    TaskQueue now = queue;
    if (now != null && now.session().isAlive()) {
      return now;
    }
    close();
    Session session = Session.attach(pattern.session().options().withApplicationName(application));
    TaskQueue fresh = pattern.in(session);
    queue = fresh;
    if (stop.getCount() == 0) {
      fresh.cancelWait();
    }
    return fresh;
  }

  /// Something has worked.
  void succeeded() {
    pauseMillis = 0;
  }

  /// Waits after a failure, longer each time, or until the consumer stops.
  ///
  /// @return whether it goes on
  boolean pause() throws InterruptedException {
    pauseMillis = Math.clamp(pauseMillis * 2, FIRST_PAUSE_MILLIS, LONGEST_PAUSE_MILLIS);
    return !stop.await(pauseMillis, TimeUnit.MILLISECONDS);
  }

  void cancelWait() {
    TaskQueue now = queue;
    if (now != null) {
      now.cancelWait();
    }
  }

  @Override
  public void close() {
    TaskQueue now = queue;
    queue = null;
    if (now != null) {
      now.session().close();
    }
  }
}
