/// Tests of the scheduler, named by the invariant they would break.
@org.jspecify.annotations.NullMarked
package dev.kakehashi.scheduler;
