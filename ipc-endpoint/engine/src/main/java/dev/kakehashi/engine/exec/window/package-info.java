/// Window functions.
@NullMarked
package dev.kakehashi.engine.exec.window;

import org.jspecify.annotations.NullMarked;
