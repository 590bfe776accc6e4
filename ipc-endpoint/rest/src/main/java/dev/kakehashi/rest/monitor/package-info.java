/// Routes for operators and tools: health, metrics, and the description of the door's routes.
@NullMarked
package dev.kakehashi.rest.monitor;

import org.jspecify.annotations.NullMarked;
