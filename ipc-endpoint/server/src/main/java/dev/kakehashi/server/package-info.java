/// The endpoint process: command line, settings, wiring, life cycle.
@NullMarked
package dev.kakehashi.server;

import org.jspecify.annotations.NullMarked;
