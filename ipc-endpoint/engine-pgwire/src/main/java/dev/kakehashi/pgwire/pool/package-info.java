/// Connections to the servers of one database: which one takes writes, and who has which connection.
///
/// The pool is thread-safe, and `acquire` blocks: it is called on lanes. After a broken connection none of those made before it is lent
/// again.
@NullMarked
package dev.kakehashi.pgwire.pool;

import org.jspecify.annotations.NullMarked;
