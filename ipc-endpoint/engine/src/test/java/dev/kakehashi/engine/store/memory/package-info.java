@NullMarked
package dev.kakehashi.engine.store.memory;

import org.jspecify.annotations.NullMarked;
