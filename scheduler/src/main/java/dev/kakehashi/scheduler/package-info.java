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
/// bounds concurrency; a lane with one permit makes the tasks of a key *sticky*, and may be *pinned* to a worker. A
/// *condition* is what tasks wait for. A *process* lives longer than a task and runs in steps. An *admission* starts
/// requests at the rate of its token bucket. The *watcher* is the thread for time; the *watchdog* notices
/// long tasks.
///
/// | to | use |
/// |---|---|
/// | run a request, with children, progress, deadline, cancel | [TaskScheduler#job], [Job] |
/// | serialise a transaction, bound concurrency | [TaskScheduler#newLane], [TaskScheduler#sticky], [Lane] |
/// | use native code that keeps state with its thread | [Affinity#PINNED] |
/// | wait for something without a thread | [TaskScheduler#condition], [TaskContext#await(Condition, Task)] |
/// | run a light job on the receiving thread | [JobBuilder#workLevel], `lightweightJobLevel`, [Option#CALLER] |
/// | share a worker with others during long work | [TaskContext#shouldYield], [TaskContext#resubmit] |
/// | keep state between events, talk by messages | [dev.kakehashi.scheduler.process.Processes#of], [dev.kakehashi.scheduler.process.Process] |
/// | limit rate and concurrency of a queue | [TaskScheduler#admission], [RateLimit] |
/// | look at it while it runs | [TaskScheduler#metrics], [TaskScheduler#dump], [SchedulerConfig.Builder#onLongTask] |
/// | know where the time of a job went | [JobBuilder#timed], [Job#times] |
///
/// Where to read: [TaskScheduler] for the ways of a task, `StealHalfDeque` for stealing, `Sleepers` for idling, wake-up and the
/// distribution role, `Inbox` for submissions, `Submission` for the ways in, `Runner` for counts and tail calls, `Worker` for the order of
/// looks, `Gatherer` and `Victims` for what it takes from elsewhere, `Idling` for searching and sleeping, [Lane], [Condition], [Job],
/// `ProcessRun`, [Admission], `TokenBucket`, `Watchdog`. Each begins with who writes what and why that is safe; the protocols' models are
/// in the tests.
///
/// *Left out: transaction slots.* The design once gave every transaction one of a fixed number of slots, handed out by tickets
/// from one global queue, so that a node never ran more transactions than it had room for. Here a lane with one permit is the
/// transaction, and a lane or an [Admission] with n permits bounds how many run: no ticket, no global queue, nothing
/// to give back by hand. Slots would be worth having again if a slot owned something that is dear to
/// make and cannot be shared (memory of one socket, connections to other nodes), or if transactions spanned nodes and had
/// to be admitted on all of them before their first task: then the ticket is the message that the nodes agree on.
///
/// Depends on `java.base` only. Blocking in a task is legal but takes a worker away from everyone else.
@NullMarked
package dev.kakehashi.scheduler;

import org.jspecify.annotations.NullMarked;
