/// Parquet files. Why by hand: docs/decisions/0037.
///
/// `thrift` reads and writes the structures of footers and pages, `page` compresses, `read` and `write` are the two directions; neither
/// knows the other.
/// A row group is read by one task, with column readers of its own. A file that is written takes row groups from several tasks.
@NullMarked
package dev.kakehashi.bulk.parquet;

import org.jspecify.annotations.NullMarked;
