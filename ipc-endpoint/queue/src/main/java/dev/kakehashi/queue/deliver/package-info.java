/// Consumers that wait, and the way of a claim: lent, written, told. Guarded by the lock of the queue system.
///
/// The door hands calls to `GroupConsumers`, and ends them there. `Deliveries` is what all groups share, and owns the rooms below. Leases
/// and calls are in memory alone; a claim becomes a record of the queues' own. No listener is called under the lock.
@NullMarked
package dev.kakehashi.queue.deliver;

import org.jspecify.annotations.NullMarked;
