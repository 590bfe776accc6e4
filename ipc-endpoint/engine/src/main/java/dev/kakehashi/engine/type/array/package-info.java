/// Arrays: their text form, functions, operators and conversions.
@NullMarked
package dev.kakehashi.engine.type.array;

import org.jspecify.annotations.NullMarked;
