/// Arrays as text: one grammar for casts, files and results.
@NullMarked
package dev.kakehashi.valuetext.array;

import org.jspecify.annotations.NullMarked;
