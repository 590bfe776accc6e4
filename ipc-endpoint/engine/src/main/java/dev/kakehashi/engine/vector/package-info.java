/// Batches of column vectors: what operators hand to each other.
@NullMarked
package dev.kakehashi.engine.vector;

import org.jspecify.annotations.NullMarked;
