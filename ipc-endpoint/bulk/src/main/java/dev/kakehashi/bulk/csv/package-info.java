/// CSV and PostgreSQL's text format, read and written. Why by hand: docs/decisions/0039.
///
/// A file is scanned for ends of rows in its order, by the task that draws the next part; that is guarded by the file. A part has its own
/// bytes and depends on nothing else.
@NullMarked
package dev.kakehashi.bulk.csv;

import org.jspecify.annotations.NullMarked;
