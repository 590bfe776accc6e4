/// The door itself: listeners, limits, and the way of a request to its route (`DoorHandler`).
///
/// Threads: one selector for each listener reads sockets and runs all that does not block. Work that blocks goes to a virtual thread.
/// State that requests share is in `RequestGate`, `ConnectionGate`, `Clients` and the counters, which are thread-safe.
/// No package but `console` and the server's wiring uses this one.
@NullMarked
package dev.kakehashi.rest.server;

import org.jspecify.annotations.NullMarked;
