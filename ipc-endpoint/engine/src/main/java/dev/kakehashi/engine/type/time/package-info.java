/// Dates, times, timestamps and intervals with PostgreSQL's semantics.
@NullMarked
package dev.kakehashi.engine.type.time;

import org.jspecify.annotations.NullMarked;
