@NullMarked
package dev.kakehashi.engine.exec.operator;

import org.jspecify.annotations.NullMarked;
