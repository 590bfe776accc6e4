/// What operators and tools ask the door: health, metrics, and the description of its routes.
@NullMarked
package dev.kakehashi.rest.monitor;

import org.jspecify.annotations.NullMarked;
