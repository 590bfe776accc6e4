/// Parquet files: [dev.kakehashi.bulk.parquet.ParquetFormat] reads and writes them.
@NullMarked
package dev.kakehashi.bulk.parquet;

import org.jspecify.annotations.NullMarked;
