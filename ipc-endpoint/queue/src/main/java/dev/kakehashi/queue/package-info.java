/// Durable queues: what [dev.kakehashi.engine.api.queue] asks for. `DurableQueues` is the way in, from any thread.
///
/// One lock, that of `QueueCenter`, guards all queues. Classes that say "guarded by the lock of the queue system" are used by a thread that
/// holds it.
/// Under the lock nothing blocks: files are written, records committed and consumers called by actions that run when it is free
/// (`QueueCenter.later`).
/// State of a task changes by a record of the log, when that is durable; leases and waiting consumers are in memory alone.
///
/// `TransactionChanges` belongs to one transaction until its commit. `time` knows no queue, and `push` uses queues as any consumer does.
@NullMarked
package dev.kakehashi.queue;

import org.jspecify.annotations.NullMarked;
