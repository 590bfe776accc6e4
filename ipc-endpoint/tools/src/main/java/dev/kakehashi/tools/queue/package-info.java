/// The command `queue`: durable queues of the engine.
@NullMarked
package dev.kakehashi.tools.queue;

import org.jspecify.annotations.NullMarked;
