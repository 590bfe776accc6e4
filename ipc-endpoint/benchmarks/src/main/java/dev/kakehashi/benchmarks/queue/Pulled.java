package dev.kakehashi.benchmarks.queue;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;

/// A queue that consumers pull from, measured by threads of ours.
final class Pulled implements Measured {
  /// Producers wait where consumers are that far behind: a backlog without end is another measure.
  private static final int MAX_BACKLOG = 20_000;

  private static final long PAUSE_NANOS = 3_000_000;

  private final QueuePeer peer;
  private long lives;

  Pulled(QueuePeer peer) {
    this.peer = peer;
  }

  @Override
  public String name() {
    return peer.name();
  }

  /// Lives of the last run, from its beginning.
  long lives() {
    return lives;
  }

  @Override
  public boolean skipLocked() {
    return peer.skipLocked();
  }

  @Override
  public double life(int producers, int consumers, int batch, double seconds) throws Exception {
    peer.reset();
    AtomicLong enqueued = new AtomicLong();
    AtomicLong completed = new AtomicLong();
    long began = System.nanoTime();
    long warm = began + (long) (seconds * 1e9 / 3);
    long end = warm + (long) (seconds * 1e9);
    long[] atWarm = new long[1];
    try (ExecutorService threads = Executors.newCachedThreadPool()) {
      List<Future<?>> running = new ArrayList<>();
      for (int i = 0; i < producers; i++) {
        running.add(
            threads.submit(() -> {
              try (QueuePeer.Producer producer = peer.producer()) {
                while (System.nanoTime() < end) {
                  if (enqueued.get() - completed.get() > MAX_BACKLOG) {
                    LockSupport.parkNanos(1_000_000);
                  } else {
                    producer.enqueue(batch);
                    enqueued.addAndGet(batch);
                  }
                }
              }
              return null;
            }));
      }
      for (int i = 0; i < consumers; i++) {
        running.add(
            threads.submit(() -> {
              try (QueuePeer.Consumer consumer = peer.consumer()) {
                while (System.nanoTime() < end) {
                  completed.addAndGet(consumer.take(batch, nanos -> {}));
                }
              }
              return null;
            }));
      }
      LockSupport.parkNanos(warm - System.nanoTime());
      atWarm[0] = completed.get();
      warmed(warm);
      LockSupport.parkNanos(end - System.nanoTime());
      double rate = (completed.get() - atWarm[0]) / ((System.nanoTime() - warm) / 1e9);
      for (Future<?> each : running) {
        each.get();
      }
      lives = completed.get();
      return rate;
    } catch (ExecutionException e) {
      throw new IllegalStateException(peer.name(), e);
    }
  }

  private static void warmed(long warm) {
    if (System.nanoTime() < warm) {
      throw new IllegalStateException("woken early");
    }
  }

  @Override
  public double[] latencies(int count) throws Exception {
    peer.reset();
    double[] micros = new double[count];
    try (QueuePeer.Producer producer = peer.producer();
        QueuePeer.Consumer consumer = peer.consumer();
        ExecutorService thread = Executors.newSingleThreadExecutor()) {
      Future<?> taking =
          thread.submit(() -> {
            int[] taken = {0};
            while (taken[0] < count) {
              consumer.take(1, nanos -> micros[taken[0]++] = (System.nanoTime() - nanos) / 1e3);
            }
            return null;
          });
      for (int i = 0; i < count; i++) {
        LockSupport.parkNanos(PAUSE_NANOS);
        producer.enqueue(1);
      }
      taking.get();
    }
    Arrays.sort(micros);
    return micros;
  }
}
