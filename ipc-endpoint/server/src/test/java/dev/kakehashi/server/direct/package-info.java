/// Rows that the Java client reads in the endpoint's memory, without a request.
@NullMarked
package dev.kakehashi.server.direct;

import org.jspecify.annotations.NullMarked;
