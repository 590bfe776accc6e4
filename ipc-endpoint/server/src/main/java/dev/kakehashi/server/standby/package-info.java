/// A standby: follows the log of another endpoint.
@NullMarked
package dev.kakehashi.server.standby;

import org.jspecify.annotations.NullMarked;
