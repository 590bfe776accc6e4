package dev.kakehashi.scheduler.bench;

import dev.kakehashi.scheduler.SchedulerConfig;
import dev.kakehashi.scheduler.TaskScheduler;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.ForkJoinWorkerThread;
import java.util.concurrent.atomic.AtomicInteger;

/// The schedulers that are compared, each with as many workers as there are processors. Idle ones sleep.
final class Pools implements AutoCloseable {
  final int workers = Runtime.getRuntime().availableProcessors();
  final TaskScheduler ours =
      TaskScheduler.start(
          SchedulerConfig.builder().workers(workers).threadNamePrefix("ours").build());
  final ForkJoinPool lifo = forkJoin(false);
  final ForkJoinPool async = forkJoin(true);
  final ExecutorService threads = Executors.newFixedThreadPool(workers);
  final ExecutorService virtual = Executors.newVirtualThreadPerTaskExecutor();
  final OneThread parking = OneThread.parking();

  /// A worker with a number of its own: pool indices are given again to workers that replace idle ones.
  static final class CountingWorker extends ForkJoinWorkerThread {
    final int line;

    CountingWorker(ForkJoinPool pool, int line) {
      super(pool);
      this.line = line;
    }
  }

  /// More lines than workers of one pool are ever alive at the same time.
  static final int LINES = 32;

  private ForkJoinPool forkJoin(boolean asyncMode) {
    AtomicInteger made = new AtomicInteger();
    return new ForkJoinPool(
        workers, pool -> new CountingWorker(pool, made.getAndIncrement() % LINES), null, asyncMode);
  }

  @Override
  public void close() {
    ours.close();
    lifo.close();
    async.close();
    threads.close();
    virtual.close();
    parking.close();
  }
}
