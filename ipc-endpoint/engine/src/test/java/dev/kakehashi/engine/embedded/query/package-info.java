/// Queries and statements as clients run them: their rows, their plans, and how they end.
@NullMarked
package dev.kakehashi.engine.embedded.query;

import org.jspecify.annotations.NullMarked;
