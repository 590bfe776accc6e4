/// Statements, transactions and tables over HTTP.
///
/// A statement runs on the engine's threads, or on the request's own if it is light. Its rows come through a [dev.kakehashi.rest.sql.ResultStream] to the request's thread, which alone writes to the client.
@NullMarked
package dev.kakehashi.rest.sql;

import org.jspecify.annotations.NullMarked;
