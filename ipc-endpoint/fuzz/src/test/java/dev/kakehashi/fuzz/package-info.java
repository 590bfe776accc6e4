@NullMarked
package dev.kakehashi.fuzz;

import org.jspecify.annotations.NullMarked;
