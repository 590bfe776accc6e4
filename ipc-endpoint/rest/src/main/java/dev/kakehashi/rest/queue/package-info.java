/// The engine's durable queues over HTTP: `/v1/queues` and `/v1/leases`. Each route is a statement of the engine's SQL.
@NullMarked
package dev.kakehashi.rest.queue;

import org.jspecify.annotations.NullMarked;
