/// An engine that is a server of PostgreSQL's protocol.
///
/// The classes here implement `engine.api`, and none of its calls blocks. Work of a transaction runs on its lane (`WireLane`), piece by
/// piece, and may block there. `ServerTransaction`, the server's side of a transaction, is touched by its lane alone. Cancels come from any
/// thread, and meet the lane in `CancelPoint`. A transaction has its connection from its first statement to its end.
///
/// `wire` knows messages and no transaction. `pool` lends connections. `catalog` has the statements of the endpoint itself.
@NullMarked
package dev.kakehashi.pgwire;

import org.jspecify.annotations.NullMarked;
