/// An engine that is a server of PostgreSQL's protocol.
@NullMarked
package dev.kakehashi.pgwire;

import org.jspecify.annotations.NullMarked;
