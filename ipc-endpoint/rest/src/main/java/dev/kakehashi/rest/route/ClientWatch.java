package dev.kakehashi.rest.route;

import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.eclipse.jetty.io.EndPoint;
import org.eclipse.jetty.server.Request;
import org.eclipse.jetty.util.thread.Scheduler;

/// Looks every second whether the clients of requests that run are still there. One timer for all, which does not run while nothing does:
/// requests that are answered at once cost an entry, and wake nobody. Thread-safe.
///
/// A request enters before it reads `isScheduled`, and a look ends by clearing that before it reads `watched`: so one of them sees the
/// other, and there is a timer whenever there is a request.
public final class ClientWatch {
  private static final long PERIOD_MILLIS = 1000;

  /// A request that is watched.
  ///
  /// @param connection of the client
  /// @param gone called once if the client goes; must not block
  private record Watched(EndPoint connection, Runnable gone) {
    @Override
    public boolean equals(Object other) {
      return this == other;
    }

    @Override
    public int hashCode() {
      return System.identityHashCode(this);
    }
  }

  private final Set<Watched> watched = ConcurrentHashMap.newKeySet();
  private final AtomicBoolean isScheduled = new AtomicBoolean();

  /// Watches a request from its next second on.
  ///
  /// @param gone called once if the client goes, on a thread that it must not block; perhaps also when the request has just ended
  /// @return to be run when the request has ended
  Runnable add(Request request, Runnable gone) {
    Watched entry =
        new Watched(request.getConnectionMetaData().getConnection().getEndPoint(), gone);
    watched.add(entry);
    Scheduler scheduler = request.getComponents().getScheduler();
    if (!isScheduled.get()) {
      schedule(scheduler);
    }
    return () -> watched.remove(entry);
  }

  private void schedule(Scheduler scheduler) {
    if (isScheduled.compareAndSet(false, true)) {
      scheduler.schedule(() -> look(scheduler), PERIOD_MILLIS, TimeUnit.MILLISECONDS);
    }
  }

  private void look(Scheduler scheduler) {
    List<Watched> left =
        watched.stream().filter(each -> ClientPresence.isGone(each.connection())).toList();
    for (Watched each : left) {
      if (watched.remove(each)) {
        each.gone().run();
      }
    }
    isScheduled.set(false);
    if (!watched.isEmpty()) {
      schedule(scheduler);
    }
  }
}
