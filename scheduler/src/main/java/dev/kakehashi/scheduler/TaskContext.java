package dev.kakehashi.scheduler;

import java.util.List;
import org.jspecify.annotations.Nullable;

/// View of a running task on its scheduler. Valid on the task's thread until the task returns; keep no reference to it.
public interface TaskContext {
  /// The job this task belongs to.
  Job job();

  /// The scheduler that runs this task.
  TaskScheduler scheduler();

  /// Index of the worker, 0 .. workers - 1, or -1 when the job runs on the thread that submitted it.
  int workerIndex();

  /// Whether another worker's deque held this task before.
  boolean stolen();

  /// Adds a task of the same job at the newest end of this worker's deque.
  void spawn(Task child);

  /// Adds tasks of the same job with one publication; the last one runs first here, the first one is stolen first.
  void spawnAll(Task... children);

  /// As [#spawnAll(Task...)]. The list is read before the method returns.
  void spawnAll(List<? extends Task> children);

  /// Adds a task of the same job as if it came from outside: behind older outside work, on any worker.
  void submit(Task task);

  /// As [#submit(Task)] with a wish where it goes: [Option#LOCAL], [Option#YIELDING], [Option#IMMEDIATE] or
  /// [Option#DEFAULT].
  ///
  /// @throws IllegalArgumentException for [Option#CALLER] and [Option#DIRECT]
  void submit(Task task, Option option);

  /// Adds a task of the same job to a lane. The task holds one permit while it and its successors run.
  ///
  /// @throws IllegalStateException if the lane is sealed
  void submit(Lane lane, Task task);

  /// Whether this task has used up its time slice and should end soon, for example with [#resubmit(Task)]. One load
  /// of a flag: ask as often as you like. The watchdog sets it between one and two `preemptAfter` after the
  /// task's start, up to 16 times later if the scheduler had been idle.
  boolean shouldYield();

  /// Whether the job was canceled, failed or ran out of time. One load.
  boolean canceled();

  /// Tail call, `return context.await(condition, next)`: ends this task, and `next` runs in the same job after
  /// a signal, or once the polled check is true. A signal given while nobody waited is remembered
  /// and lets one such wait pass at once: with at most one waiter at a time, "look, then await" misses nothing.
  /// With several waiters take a ticket first, see [#await(Condition, long, Task)]. The successor should
  /// look again: a signal says "look", not "it is there". When the job is canceled, `next` is discarded at once.
  ///
  /// @return null
  @Nullable Task await(Condition condition, Task next);

  /// Tail call: as [#await(Condition, Task)] for any number of waiters. `ticket` comes from
  /// [Condition#prepare()], taken before the look that found nothing; any signal since lets `next` run at once.
  ///
  /// @return null
  @Nullable Task await(Condition condition, long ticket, Task next);

  /// Tail call, `return context.resubmit(rest)`: ends this task and puts `rest` at the old end of this
  /// worker's deque, behind everything the worker has and first in line for thieves.
  ///
  /// @return null
  @Nullable Task resubmit(Task rest);

  /// Adds to the job's own measure of progress, in units of the job's choice.
  void progress(long done);
}
