@NullMarked
package dev.kakehashi.protocol.value;

import org.jspecify.annotations.NullMarked;
