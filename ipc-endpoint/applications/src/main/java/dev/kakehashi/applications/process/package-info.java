/// Processes of applications, on the scheduler's.
@NullMarked
package dev.kakehashi.applications.process;

import org.jspecify.annotations.NullMarked;
