/// Contract of every operator, and state that one run of a plan shares: batches that are handed up, breakers that take all of their input.
@NullMarked
package dev.kakehashi.engine.exec.operator;

import org.jspecify.annotations.NullMarked;
