@NullMarked
package dev.kakehashi.engine.store.index;

import org.jspecify.annotations.NullMarked;
