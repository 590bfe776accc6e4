/// Supervision of users' code while it runs: the watch over times, counts, failures and log lines.
@NullMarked
package dev.kakehashi.applications.watch;

import org.jspecify.annotations.NullMarked;
