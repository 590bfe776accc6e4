/// Processes: state that lives longer than a task, runs in steps, and is talked to by messages.
@NullMarked
package dev.kakehashi.scheduler.process;

import org.jspecify.annotations.NullMarked;
