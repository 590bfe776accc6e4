/// Sockets beside the one that clients attach to: for the endpoint's own OS user alone.
@NullMarked
package dev.kakehashi.server.socket;

import org.jspecify.annotations.NullMarked;
