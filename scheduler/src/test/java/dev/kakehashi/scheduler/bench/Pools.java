package dev.kakehashi.scheduler.bench;

import dev.kakehashi.scheduler.SchedulerConfig;
import dev.kakehashi.scheduler.TaskScheduler;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.ForkJoinPool;

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

  private ForkJoinPool forkJoin(boolean asyncMode) {
    return new ForkJoinPool(
        workers, ForkJoinPool.defaultForkJoinWorkerThreadFactory, null, asyncMode);
  }

  @Override
  public void close() {
    ours.close();
    lifo.close();
    async.close();
    threads.close();
    virtual.close();
  }
}
