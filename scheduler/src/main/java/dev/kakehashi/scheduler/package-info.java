/// A work-stealing scheduler of fine-grained tasks.
///
/// ```
///  TaskScheduler scheduler = TaskScheduler.start(SchedulerConfig.defaults());
///  Lane transaction = scheduler.newLane(1);
///  Job job = scheduler.job("sql").lane(transaction).onTeardown(respond).submit(bootstrap);
/// ```
///
/// Words: a *task* runs on one thread to its end and never waits. A *job* is a bootstrap task and all tasks it
/// spawns; it has one *teardown*. A *worker* is a thread with a *deque*. An *inbox* takes work from outside. A *lane*
/// bounds concurrency. A *condition* is what tasks wait for. The *watcher* is the thread for time.
///
/// Where to read: [TaskScheduler] for the ways of a task, `PackedDeque` for stealing, `Sleepers` for idling and
/// wake-up, `Inbox` for submissions, `Runner` for counts and tail calls, `Worker` for the order of looks, [Lane],
/// [Condition], [Job]. Each begins with who writes what and why that is safe; the protocols' models are in the tests.
///
/// Depends on `java.base` only. Blocking in a task is legal but takes a worker away from everyone else.
@NullMarked
package dev.kakehashi.scheduler;

import org.jspecify.annotations.NullMarked;
