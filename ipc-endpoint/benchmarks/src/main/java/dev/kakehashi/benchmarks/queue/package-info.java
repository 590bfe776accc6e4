/// Queues against others: tables with SKIP LOCKED, pgmq's shape, PgQ, libraries on PostgreSQL, and servers of messages.
@NullMarked
package dev.kakehashi.benchmarks.queue;

import org.jspecify.annotations.NullMarked;
