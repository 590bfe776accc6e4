/// Hash joins: the table, its partitions, the two sides.
@NullMarked
package dev.kakehashi.engine.exec.join;

import org.jspecify.annotations.NullMarked;
