/// Rebuilds the store from its durable image.
@NullMarked
package dev.kakehashi.engine.store.recovery;

import org.jspecify.annotations.NullMarked;
