/// The endpoint's side of the transport.
///
/// Threads: the *poller* ([dev.kakehashi.transport.endpoint.Poller]), a role of which two threads take turns, reads every queue and calls
/// the request handler; the *attach thread* accepts clients and notices their death; workers of the engine fill
/// [dev.kakehashi.transport.endpoint.ResponseChannel]s. Members that belong to the poller alone say so.
@NullMarked
package dev.kakehashi.transport.endpoint;

import org.jspecify.annotations.NullMarked;
