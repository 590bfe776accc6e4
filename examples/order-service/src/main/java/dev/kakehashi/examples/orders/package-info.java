/// An order service: it reads and writes tables directly, in the transaction of its caller, and mails by a queue.
@NullMarked
package dev.kakehashi.examples.orders;

import org.jspecify.annotations.NullMarked;
