/// Algebra to physical plans.
@NullMarked
package dev.kakehashi.engine.sql.physical;

import org.jspecify.annotations.NullMarked;
