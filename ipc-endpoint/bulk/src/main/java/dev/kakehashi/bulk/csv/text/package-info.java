/// Values of columns from bytes of text, as PostgreSQL's input functions read them, into row batches.
///
/// A column's reader is used by one task at a time, and writes into a `TextBatch`. Why by hand:
/// docs/decisions/0039 and 0040.
@NullMarked
package dev.kakehashi.bulk.csv.text;

import org.jspecify.annotations.NullMarked;
