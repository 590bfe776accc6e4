/// Which tasks the groups of a queue have open, and which one is next. Guarded by the lock of the queue system, where a class does not say
/// otherwise.
///
/// The way in is `QueueCenter`, with all queues. A task's state is changed by `LogApplier` alone, when a record is durable. Rooms above may
/// lend, hold and give back (`GroupCore.hold`, `unhold`, `giveBack`), which the next run does not know. Chains, lanes and counts belong
/// to this room; rooms above read them, and the codec of states makes them.
///
/// The order knows delivery by the interfaces `TaskDelivery` and `GroupDelivery`, and transactions by `ChangeOwner`.
@NullMarked
package dev.kakehashi.queue.order;

import org.jspecify.annotations.NullMarked;
