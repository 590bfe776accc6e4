@NullMarked
package dev.kakehashi.scheduler.process;

import org.jspecify.annotations.NullMarked;
