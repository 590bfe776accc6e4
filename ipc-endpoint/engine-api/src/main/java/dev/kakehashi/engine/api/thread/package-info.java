/// Threads that a caller lends to an engine. Nothing here knows what runs on them.
@NullMarked
package dev.kakehashi.engine.api.thread;

import org.jspecify.annotations.NullMarked;
