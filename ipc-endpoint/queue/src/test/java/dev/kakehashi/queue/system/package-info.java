/// The lock and the time of the queue system.
@NullMarked
package dev.kakehashi.queue.system;

import org.jspecify.annotations.NullMarked;
