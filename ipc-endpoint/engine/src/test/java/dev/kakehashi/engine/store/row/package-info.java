@NullMarked
package dev.kakehashi.engine.store.row;

import org.jspecify.annotations.NullMarked;
