/// The door itself: listeners, limits, and the way of a request to its route.
@NullMarked
package dev.kakehashi.rest.server;

import org.jspecify.annotations.NullMarked;
