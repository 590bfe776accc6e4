package dev.kakehashi.scheduler;

import java.util.List;
import org.jspecify.annotations.Nullable;

/// A worker.
final class Worker extends Runner implements Runnable {
  private final int index;
  WorkerThread thread;

  Worker(TaskScheduler scheduler, int index) {
    super(scheduler, new Counters());
    this.index = index;
    this.thread =
        new WorkerThread(this, scheduler.config().threadNamePrefix() + "-worker-" + index);
  }

  @Override
  public int workerIndex() {
    return index;
  }

  @Override
  public void run() {
    scheduler.config().onWorkerStart().accept(index);
    try {
      for (; ; ) {
        TaskScheduler.Queued queued = scheduler.queue.poll();
        if (queued == null) {
          flush();
          queued = scheduler.queue.take();
        }
        if (queued.task().equals(TaskScheduler.STOP)) {
          return;
        }
        Job job = queued.job();
        if (job == null) {
          ((InternalTask) queued.task()).runInternal(this);
        } else {
          execute(queued.task(), job, false);
        }
      }
    } catch (InterruptedException e) {
      scheduler.uncaught(thread.getName(), e);
    }
  }

  @Override
  void pushNewest(Task task, @Nullable Job job) {
    scheduler.queue.addFirst(new TaskScheduler.Queued(task, job));
  }

  @Override
  void pushAllNewest(List<? extends Task> tasks, Job job) {
    tasks.forEach(task -> pushNewest(task, job));
  }

  @Override
  void pushOldest(Task task, Job job) {
    scheduler.queue.addLast(new TaskScheduler.Queued(task, job));
  }
}
