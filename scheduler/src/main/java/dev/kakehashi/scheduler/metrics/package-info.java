/// Counts and times of a scheduler: written by its threads without a fence, summed by who looks.
@NullMarked
package dev.kakehashi.scheduler.metrics;

import org.jspecify.annotations.NullMarked;
