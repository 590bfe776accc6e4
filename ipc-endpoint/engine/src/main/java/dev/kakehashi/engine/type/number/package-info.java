/// Integers and floating-point numbers with PostgreSQL's overflow rules and text forms.
@NullMarked
package dev.kakehashi.engine.type.number;

import org.jspecify.annotations.NullMarked;
