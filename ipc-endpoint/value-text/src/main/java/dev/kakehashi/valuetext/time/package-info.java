/// The calendar, and dates, times and intervals as text: DateStyle "ISO, MDY", IntervalStyle postgres.
@NullMarked
package dev.kakehashi.valuetext.time;

import org.jspecify.annotations.NullMarked;
