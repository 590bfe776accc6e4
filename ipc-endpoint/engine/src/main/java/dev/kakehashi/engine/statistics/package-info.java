/// Statistics of tables and columns: sampled, kept current, asked by the planner.
@NullMarked
package dev.kakehashi.engine.statistics;

import org.jspecify.annotations.NullMarked;
