/// PostgreSQL's protocol, version 3, as far as an engine needs it.
///
/// A connection is used by one thread at a time, which it blocks; close and cancel come from any thread.
/// Values go between the wire's binary format and row batches without an object each.
@NullMarked
package dev.kakehashi.pgwire.wire;

import org.jspecify.annotations.NullMarked;
