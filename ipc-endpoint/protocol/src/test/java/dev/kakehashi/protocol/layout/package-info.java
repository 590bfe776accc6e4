@NullMarked
package dev.kakehashi.protocol.layout;

import org.jspecify.annotations.NullMarked;
