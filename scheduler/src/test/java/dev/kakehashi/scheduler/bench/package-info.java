/// Programs that measure; none of them is a test.
@org.jspecify.annotations.NullMarked
package dev.kakehashi.scheduler.bench;
