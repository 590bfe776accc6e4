/// Code of functions: called on workers, in batches.
///
/// A function's code of one statement is used by one task at a time. It runs on a `CodeThread`, so that a batch that does not end costs its
/// worker a bounded time. Only `look` comes from the watch's thread.
@NullMarked
package dev.kakehashi.applications.function;

import org.jspecify.annotations.NullMarked;
