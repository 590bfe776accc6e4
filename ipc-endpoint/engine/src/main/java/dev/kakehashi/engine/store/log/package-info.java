/// Durability of the store: an ordered log of atomic units, and the image that a recovery reads. Internal to the store.
@NullMarked
package dev.kakehashi.engine.store.log;

import org.jspecify.annotations.NullMarked;
