/// Durable queues of a whole endpoint.
@NullMarked
package dev.kakehashi.server.queue;

import org.jspecify.annotations.NullMarked;
