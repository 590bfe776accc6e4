/// Durable queues: what [dev.kakehashi.engine.api.queue] asks for.
@NullMarked
package dev.kakehashi.queue;

import org.jspecify.annotations.NullMarked;
