/// Work-stealing scheduler.
@org.jspecify.annotations.NullMarked
package dev.kakehashi.scheduler;
