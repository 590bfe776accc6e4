/// Connections to the servers of one database: which one takes writes, and who has which connection.
@NullMarked
package dev.kakehashi.pgwire.pool;

import org.jspecify.annotations.NullMarked;
