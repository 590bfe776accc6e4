package dev.kakehashi.rest.server;

import dev.kakehashi.rest.route.Route;
import dev.kakehashi.rest.route.Routes;
import java.util.IdentityHashMap;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.BiConsumer;
import org.jspecify.annotations.Nullable;

/// Counts requests by route and class of status: as many counters as there are routes. Thread-safe.
final class RequestCounters {
  private static final int CLASSES = 6;

  /// Counter of requests that met no route.
  private final Counter none = new Counter();

  private final IdentityHashMap<Route, Counter> byRoute = new IdentityHashMap<>();

  /// Counts of one route.
  static final class Counter {
    private final LongAdder[] byClass = new LongAdder[CLASSES];
    private final LongAdder broken = new LongAdder();
    private final LongAdder nanos = new LongAdder();

    private Counter() {
      for (int i = 0; i < CLASSES; i++) {
        byClass[i] = new LongAdder();
      }
    }

    /// @param hundreds of the status, from 1 to 5
    long ofClass(int hundreds) {
      return byClass[hundreds].sum();
    }

    /// Answers that broke off.
    long broken() {
      return broken.sum();
    }

    /// From the header's end to the answer's.
    long nanos() {
      return nanos.sum();
    }
  }

  RequestCounters(Routes routes) {
    routes.all().forEach(route -> byRoute.put(route, new Counter()));
  }

  void count(@Nullable Route route, int status, boolean isWhole, long nanos) {
    Counter counter = route == null ? none : byRoute.getOrDefault(route, none);
    counter.byClass[Math.clamp(status / 100, 1, CLASSES - 1)].increment();
    counter.nanos.add(nanos);
    if (!isWhole) {
      counter.broken.increment();
    }
  }

  /// @param consumer gets the route, or its absence as null
  void forEach(BiConsumer<@Nullable Route, Counter> consumer) {
    byRoute.forEach(consumer);
    consumer.accept(null, none);
  }
}
