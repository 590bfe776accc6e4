/// Files of COPY and the death of the endpoint.
@NullMarked
package dev.kakehashi.server.bulk;

import org.jspecify.annotations.NullMarked;
