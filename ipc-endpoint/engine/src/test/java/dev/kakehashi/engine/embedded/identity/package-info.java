/// Random queries whose answers must agree with those of other queries: a check that needs no second database.
@NullMarked
package dev.kakehashi.engine.embedded.identity;

import org.jspecify.annotations.NullMarked;
