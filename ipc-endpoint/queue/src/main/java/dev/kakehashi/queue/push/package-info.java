/// Tasks that are pushed to targets over HTTP, at the rate of their queue and the target's.
@NullMarked
package dev.kakehashi.queue.push;

import org.jspecify.annotations.NullMarked;
