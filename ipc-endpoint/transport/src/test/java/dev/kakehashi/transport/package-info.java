@NullMarked
package dev.kakehashi.transport;

import org.jspecify.annotations.NullMarked;
