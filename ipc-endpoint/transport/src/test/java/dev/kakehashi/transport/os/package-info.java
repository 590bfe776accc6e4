@NullMarked
package dev.kakehashi.transport.os;

import org.jspecify.annotations.NullMarked;
