/// Applications for tests of the engine.
@NullMarked
package dev.kakehashi.engine.application;

import org.jspecify.annotations.NullMarked;
