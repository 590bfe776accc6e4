/// The ground of the queue system: its one lock, its time, its run. It knows no queue.
///
/// Every room may enter and leave the lock, leave work for later, and arm deadlines. The alarm and the end of critical sections are for
/// `QueueCenter` alone. A class that says "guarded by the lock of the queue system" is used by a thread that holds `QueueLock`.
@NullMarked
package dev.kakehashi.queue.system;

import org.jspecify.annotations.NullMarked;
