@NullMarked
package dev.kakehashi.protocol.capability;

import org.jspecify.annotations.NullMarked;
