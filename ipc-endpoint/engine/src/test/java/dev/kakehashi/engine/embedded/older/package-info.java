/// Data directories that older versions have written.
@NullMarked
package dev.kakehashi.engine.embedded.older;

import org.jspecify.annotations.NullMarked;
