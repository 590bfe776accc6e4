/// The embedded engine: [dev.kakehashi.engine.EmbeddedEngine] behind the engine API.
@NullMarked
package dev.kakehashi.engine;

import org.jspecify.annotations.NullMarked;
