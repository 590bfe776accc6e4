/// Compares rows, indexes and the durable image with each other.
@NullMarked
package dev.kakehashi.engine.store.check;

import org.jspecify.annotations.NullMarked;
