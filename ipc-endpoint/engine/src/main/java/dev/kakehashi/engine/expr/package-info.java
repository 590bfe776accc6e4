/// Expressions over the columns of a batch: their trees, and their evaluation a batch at a time.
@NullMarked
package dev.kakehashi.engine.expr;

import org.jspecify.annotations.NullMarked;
