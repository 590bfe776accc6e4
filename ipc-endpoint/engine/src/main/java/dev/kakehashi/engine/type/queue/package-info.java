/// Functions of durable queues.
@NullMarked
package dev.kakehashi.engine.type.queue;

import org.jspecify.annotations.NullMarked;
