/// PostgreSQL's protocol, version 3, as far as an engine needs it.
@NullMarked
package dev.kakehashi.pgwire.wire;

import org.jspecify.annotations.NullMarked;
