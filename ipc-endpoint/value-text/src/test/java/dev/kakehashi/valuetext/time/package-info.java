/// Tests of the calendar, dates, times and intervals.
@NullMarked
package dev.kakehashi.valuetext.time;

import org.jspecify.annotations.NullMarked;
