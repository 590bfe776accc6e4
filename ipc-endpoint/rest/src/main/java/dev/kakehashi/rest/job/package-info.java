/// Jobs, the files of their results, and keys under which a request takes effect once. Knows neither HTTP nor SQL.
///
/// `Jobs` is the way in, from any thread. `JobTable` has one lock over jobs, keys and journal; nothing under it waits for the disk.
/// One thread of `Journal` writes and synchronises for all that wait.
@NullMarked
package dev.kakehashi.rest.job;

import org.jspecify.annotations.NullMarked;
