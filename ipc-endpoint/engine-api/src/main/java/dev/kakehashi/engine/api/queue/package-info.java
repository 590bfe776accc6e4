/// What the engine needs of durable queues: it knows transactions, the log, definitions and rights; whoever implements [dev.kakehashi.engine.api.queue.QueueSystem] knows tasks, their files, leases and order.
@NullMarked
package dev.kakehashi.engine.api.queue;

import org.jspecify.annotations.NullMarked;
