/// Durable queues: what [dev.kakehashi.engine.api.queue] asks for. `DurableQueues` is the door, from any thread.
///
/// The rooms, ground floor first; each sees those before it alone. `time` knows no queue. `system` has the lock and the clock, `record` the
/// changes as the log has them, `file` the files. `order` says which task is next, `change` writes, `deliver` hands out. This package is
/// the roof: the door, states in files, views for operators, schedules. `push` uses queues as any consumer does.
///
/// One lock guards all queues. Under it nothing blocks: files are written, records committed and consumers called by actions that run when
/// it is free (`QueueLock.later`). Members are public where another room needs them; outside of this module only `DurableQueues` and
/// `push` are used.
@NullMarked
package dev.kakehashi.queue;

import org.jspecify.annotations.NullMarked;
