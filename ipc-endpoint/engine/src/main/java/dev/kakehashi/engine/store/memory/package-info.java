/// Native memory of the store: access by absolute address, and the pool that owns it. Internal to the store.
@NullMarked
package dev.kakehashi.engine.store.memory;

import org.jspecify.annotations.NullMarked;
