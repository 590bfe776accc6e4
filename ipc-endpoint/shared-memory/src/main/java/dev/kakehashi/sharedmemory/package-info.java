/// The interface for shared memory: frames become requests of [dev.kakehashi.requests.RequestCore], and their answers become frames.
///
/// Threads: the transport's poller calls [dev.kakehashi.sharedmemory.SharedMemoryRequests]. Statements and commits end in callbacks on the
/// poller or on a worker of the engine: they write the final frame at once, without a hop.
@NullMarked
package dev.kakehashi.sharedmemory;

import org.jspecify.annotations.NullMarked;
