/// What the endpoint tells of itself.
@NullMarked
package dev.kakehashi.server.report;

import org.jspecify.annotations.NullMarked;
