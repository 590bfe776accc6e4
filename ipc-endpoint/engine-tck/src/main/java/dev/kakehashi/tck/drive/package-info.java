/// An engine driven step by step: every wait is bounded, and every row that comes is checked.
@NullMarked
package dev.kakehashi.tck.drive;

import org.jspecify.annotations.NullMarked;
