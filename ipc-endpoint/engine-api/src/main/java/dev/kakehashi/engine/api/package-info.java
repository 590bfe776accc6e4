/// The seam between applications and a data engine: transactions, prepared statements, result sinks.
///
/// Call protocol: an application opens one [EngineSession] per client session, begins transactions on the [Engine],
/// prepares statements in the session and executes them in a transaction. Nothing here blocks: whatever takes time ends
/// in a callback. Rows cross as row batches (PROTOCOL.md §6) in memory that a [ResultSink] lends.
///
/// Errors are [EngineException]s with a code of the project's error table, thrown by calls that refuse their arguments and handed to
/// callbacks by work that fails later.
@NullMarked
package dev.kakehashi.engine.api;

import org.jspecify.annotations.NullMarked;
