/// Models of the scheduler's protocols and a checker that visits all their states.
@org.jspecify.annotations.NullMarked
package dev.kakehashi.scheduler.model;
