/// Functions for queries: scalar ones, a function in FROM, and an aggregate. They use nothing of the engine, so they run on its workers, a
/// batch of rows at a time.
@NullMarked
package dev.kakehashi.examples.functions;

import org.jspecify.annotations.NullMarked;
