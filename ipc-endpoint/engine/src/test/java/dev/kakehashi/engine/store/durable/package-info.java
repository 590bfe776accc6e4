@NullMarked
package dev.kakehashi.engine.store.durable;

import org.jspecify.annotations.NullMarked;
