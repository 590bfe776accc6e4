/// Values and functions with PostgreSQL's semantics, on words and native addresses (see ColumnVector).
@NullMarked
package dev.kakehashi.engine.type;

import org.jspecify.annotations.NullMarked;
