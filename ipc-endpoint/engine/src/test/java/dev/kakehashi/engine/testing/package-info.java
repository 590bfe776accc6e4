/// Helpers that several tests share.
@NullMarked
package dev.kakehashi.engine.testing;

import org.jspecify.annotations.NullMarked;
