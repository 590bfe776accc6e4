/// Grouping and aggregates.
@NullMarked
package dev.kakehashi.engine.exec.aggregate;

import org.jspecify.annotations.NullMarked;
