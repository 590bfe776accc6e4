/// Ordered indexes: keys encoded so that their bytes order as their values do, and the tree that holds them. Internal to the store.
@NullMarked
package dev.kakehashi.engine.store.index;

import org.jspecify.annotations.NullMarked;
