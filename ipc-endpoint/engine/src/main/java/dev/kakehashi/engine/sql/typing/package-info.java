/// Types of expressions: conversions and calls of functions; and what the binding of one statement shares.
@NullMarked
package dev.kakehashi.engine.sql.typing;

import org.jspecify.annotations.NullMarked;
