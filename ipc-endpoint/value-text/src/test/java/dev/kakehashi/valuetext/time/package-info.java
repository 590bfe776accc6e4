/// Tests of the formats.
@NullMarked
package dev.kakehashi.valuetext.time;

import org.jspecify.annotations.NullMarked;
