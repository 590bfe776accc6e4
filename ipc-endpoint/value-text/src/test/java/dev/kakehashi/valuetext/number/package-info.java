/// Tests of numbers.
@NullMarked
package dev.kakehashi.valuetext.number;

import org.jspecify.annotations.NullMarked;
