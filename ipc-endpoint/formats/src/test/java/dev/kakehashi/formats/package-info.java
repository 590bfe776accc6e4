/// Tests of the formats.
@NullMarked
package dev.kakehashi.formats;

import org.jspecify.annotations.NullMarked;
