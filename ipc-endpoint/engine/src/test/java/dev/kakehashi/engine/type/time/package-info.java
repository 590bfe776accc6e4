@NullMarked
package dev.kakehashi.engine.type.time;

import org.jspecify.annotations.NullMarked;
