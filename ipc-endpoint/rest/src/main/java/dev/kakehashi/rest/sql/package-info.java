/// Statements, transactions and tables over HTTP.
///
/// A statement runs on the engine's threads, or on the request's own if it is light. Its rows come through a
/// [dev.kakehashi.rest.sql.ResultStream] to the request's thread, which alone writes to the client.
///
/// A call (`SqlCall`) goes on by callbacks and holds no thread while it waits. A session of the pool (`SessionPool`) belongs to one request
/// until it is given back.
/// Other packages run statements by `SqlService` and `StatementRun`; none of them touches a session.
@NullMarked
package dev.kakehashi.rest.sql;

import org.jspecify.annotations.NullMarked;
