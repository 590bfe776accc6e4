/// Integers, decimal and floating-point numbers as text.
@NullMarked
package dev.kakehashi.valuetext.number;

import org.jspecify.annotations.NullMarked;
