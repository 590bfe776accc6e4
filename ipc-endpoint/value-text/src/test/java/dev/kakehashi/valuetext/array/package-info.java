/// Tests of arrays.
@NullMarked
package dev.kakehashi.valuetext.array;

import org.jspecify.annotations.NullMarked;
