/// A small queue system for tests of the engine.
@NullMarked
package dev.kakehashi.engine.queue;

import org.jspecify.annotations.NullMarked;
