@NullMarked
package dev.kakehashi.engine.store.log;

import org.jspecify.annotations.NullMarked;
