@NullMarked
package dev.kakehashi.server;

import org.jspecify.annotations.NullMarked;
