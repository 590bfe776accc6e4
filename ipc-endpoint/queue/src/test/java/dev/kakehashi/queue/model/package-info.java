/// The life of one task as states, all of which are visited.
@NullMarked
package dev.kakehashi.queue.model;

import org.jspecify.annotations.NullMarked;
