@NullMarked
package dev.kakehashi.protocol;

import org.jspecify.annotations.NullMarked;
