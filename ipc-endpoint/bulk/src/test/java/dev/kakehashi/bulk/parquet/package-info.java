/// Tests of Parquet files.
@NullMarked
package dev.kakehashi.bulk.parquet;

import org.jspecify.annotations.NullMarked;
