/// Sorting, and the first rows of an order.
@NullMarked
package dev.kakehashi.engine.exec.sort;

import org.jspecify.annotations.NullMarked;
