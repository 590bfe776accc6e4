/// Writing of Parquet files.
@NullMarked
package dev.kakehashi.bulk.parquet.write;

import org.jspecify.annotations.NullMarked;
