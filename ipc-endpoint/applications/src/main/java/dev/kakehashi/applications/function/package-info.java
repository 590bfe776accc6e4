/// Code of functions: called on workers, in batches.
@NullMarked
package dev.kakehashi.applications.function;

import org.jspecify.annotations.NullMarked;
