@NullMarked
package dev.kakehashi.engine.store;

import org.jspecify.annotations.NullMarked;
