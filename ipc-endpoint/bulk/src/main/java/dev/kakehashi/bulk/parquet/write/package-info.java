/// Row batches to Parquet files.
///
/// Outputs of one file are used by a task each, and make row groups of their own; `RowGroups` puts them into the file one after the other,
/// and is thread-safe.
/// A row group is kept until it is full, so its memory is bounded by options and reserved with the statement.
@NullMarked
package dev.kakehashi.bulk.parquet.write;

import org.jspecify.annotations.NullMarked;
