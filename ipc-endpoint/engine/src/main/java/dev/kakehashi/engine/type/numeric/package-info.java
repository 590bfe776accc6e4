/// PostgreSQL's numeric: its in-memory form, exact arithmetic, mathematics.
@NullMarked
package dev.kakehashi.engine.type.numeric;

import org.jspecify.annotations.NullMarked;
