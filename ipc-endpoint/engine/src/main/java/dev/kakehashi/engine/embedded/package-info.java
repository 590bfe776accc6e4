/// The embedded engine: sessions, statements and the cache of plans behind the engine API, and the check of its files.
@NullMarked
package dev.kakehashi.engine.embedded;

import org.jspecify.annotations.NullMarked;
