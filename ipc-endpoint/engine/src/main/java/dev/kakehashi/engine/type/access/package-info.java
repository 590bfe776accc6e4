/// Functions that ask about roles and rights.
@NullMarked
package dev.kakehashi.engine.type.access;

import org.jspecify.annotations.NullMarked;
