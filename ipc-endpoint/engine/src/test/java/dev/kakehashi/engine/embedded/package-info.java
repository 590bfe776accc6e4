@NullMarked
package dev.kakehashi.engine.embedded;

import org.jspecify.annotations.NullMarked;
