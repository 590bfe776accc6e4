@NullMarked
package dev.kakehashi.protocol.generator;

import org.jspecify.annotations.NullMarked;
