/// The HTTP door with the real engine behind it.
@NullMarked
package dev.kakehashi.server.http;

import org.jspecify.annotations.NullMarked;
