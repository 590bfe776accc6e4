package dev.kakehashi.pgwire;

import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicInteger;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Work that is done piece by piece in its order, on a thread that exists while there is some. The pieces may block. Thread-safe.
final class WireLane {
  private static final Logger LOG = LoggerFactory.getLogger(WireLane.class);

  private final Executor threads;
  private final Queue<Runnable> waiting = new ConcurrentLinkedQueue<>();
  private final AtomicInteger count = new AtomicInteger();

  WireLane(Executor threads) {
    this.threads = threads;
  }

  void add(Runnable work) {
    waiting.add(work);
    if (count.getAndIncrement() == 0) {
      threads.execute(this::drain);
    }
  }

  private void drain() {
    do {
      Runnable work = waiting.remove();
      try {
        work.run();
      } catch (RuntimeException | Error e) {
        // A mistake: each piece reports its failures itself. The next ones have somebody who waits
        // for them.
        LOG.error("work of a transaction has failed", e);
      }
    } while (count.decrementAndGet() > 0);
  }
}
