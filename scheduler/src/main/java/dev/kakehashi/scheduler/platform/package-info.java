/// Services that the scheduler asks of the JVM and the machine: threads, fences, processors, and the places where tests look into its
/// protocols.
@NullMarked
package dev.kakehashi.scheduler.platform;

import org.jspecify.annotations.NullMarked;
