/// The texts of EXPLAIN.
@NullMarked
package dev.kakehashi.engine.sql.explain;

import org.jspecify.annotations.NullMarked;
