/// Values of files as values of columns: one input for each pair of types, chosen once for a column.
///
/// An input is used by one task at a time, and fills the column of a batch at once. A value that cannot be converted fails its row alone
/// (`RowFailures`).
@NullMarked
package dev.kakehashi.bulk.value;

import org.jspecify.annotations.NullMarked;
