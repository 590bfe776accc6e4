/// Routes, and what a handler sees of a request and its answer (`Exchange`).
///
/// An exchange belongs to one request. Its handler answers it once, from any thread, whole or as a stream; a stream ends well or breaks the
/// framing.
/// A `DirectHandler` runs on the thread that reads sockets, for microseconds. A `Handler` has a virtual thread and may block.
/// Handlers are shared by all requests, so they are thread-safe and keep nothing of a request.
@NullMarked
package dev.kakehashi.rest.route;

import org.jspecify.annotations.NullMarked;
