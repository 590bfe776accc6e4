/// The order of tasks, without files and log.
@NullMarked
package dev.kakehashi.queue.order;

import org.jspecify.annotations.NullMarked;
