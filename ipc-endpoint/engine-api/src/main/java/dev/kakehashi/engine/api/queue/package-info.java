/// Seam between the engine and durable queues. The engine knows transactions, the log, definitions and rights. An implementation of
/// [dev.kakehashi.engine.api.queue.QueueSystem] knows tasks, their files, leases and order.
@NullMarked
package dev.kakehashi.engine.api.queue;

import org.jspecify.annotations.NullMarked;
