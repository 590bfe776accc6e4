/// Tests of the embedded engine as its users see it: SQL in, rows and errors out.
@NullMarked
package dev.kakehashi.engine;

import org.jspecify.annotations.NullMarked;
