/// Files of queues: segments with tasks, and the file of states. It knows neither groups nor order.
///
/// The order appends to segments, and reads and links their tasks under the lock. Their flags belong to this room and to the one that
/// forces (`QueueFiles`). Files are written, forced and deleted without the lock; `SegmentChores` says which ones.
@NullMarked
package dev.kakehashi.queue.file;

import org.jspecify.annotations.NullMarked;
