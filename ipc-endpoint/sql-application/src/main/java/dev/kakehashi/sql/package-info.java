/// The SQL application: requests of sessions become statements and transactions of an engine.
///
/// Threads: the transport's poller calls [dev.kakehashi.sql.SqlApplication]; what belongs to it alone needs no lock. Statements and commits end in callbacks on the poller
/// or on a worker of the engine: they write the final frame at once, without a hop, and touch only what says "any thread".
@NullMarked
package dev.kakehashi.sql;

import org.jspecify.annotations.NullMarked;
