@NullMarked
package dev.kakehashi.engine.exec.join;

import org.jspecify.annotations.NullMarked;
