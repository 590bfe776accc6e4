/// The engine while allocations of its native memory fail.
@NullMarked
package dev.kakehashi.engine.embedded.fault;

import org.jspecify.annotations.NullMarked;
