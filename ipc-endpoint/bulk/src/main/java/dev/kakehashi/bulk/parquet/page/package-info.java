/// Pages of Parquet files: compression.
@NullMarked
package dev.kakehashi.bulk.parquet.page;

import org.jspecify.annotations.NullMarked;
