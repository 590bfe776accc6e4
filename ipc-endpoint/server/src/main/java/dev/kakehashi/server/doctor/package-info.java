/// Looks at a machine for what commonly goes wrong with an endpoint.
@NullMarked
package dev.kakehashi.server.doctor;

import org.jspecify.annotations.NullMarked;
