@NullMarked
package dev.kakehashi.engine.exec.rows;

import org.jspecify.annotations.NullMarked;
