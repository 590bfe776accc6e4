/// Queues of the engine while their producers, consumers and servers are killed.
@NullMarked
package dev.kakehashi.pgtests.queue;

import org.jspecify.annotations.NullMarked;
