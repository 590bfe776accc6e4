/// When something happens again: schedules by cron.
@NullMarked
package dev.kakehashi.queue.time;

import org.jspecify.annotations.NullMarked;
