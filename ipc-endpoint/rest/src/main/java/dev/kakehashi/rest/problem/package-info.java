/// Failures as the client sees them (RFC 9457), and names that he may have meant.
@NullMarked
package dev.kakehashi.rest.problem;

import org.jspecify.annotations.NullMarked;
