/// Standbys of a whole endpoint.
@NullMarked
package dev.kakehashi.server.standby;

import org.jspecify.annotations.NullMarked;
