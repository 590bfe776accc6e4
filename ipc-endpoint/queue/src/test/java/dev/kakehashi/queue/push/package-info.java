/// Where tasks may be pushed, and how fast.
@NullMarked
package dev.kakehashi.queue.push;

import org.jspecify.annotations.NullMarked;
