/// Changes of transactions and of the queues themselves, from the call to the place in the log.
///
/// Rooms above make them by `TransactionChanges`, or hand changes of the queues' own to `RecordWriter`. `PlacedChanges` has those that are
/// not durable. It is the one thing here that three kinds of threads meet in: those that commit, those that flush, those that consume.
@NullMarked
package dev.kakehashi.queue.change;

import org.jspecify.annotations.NullMarked;
