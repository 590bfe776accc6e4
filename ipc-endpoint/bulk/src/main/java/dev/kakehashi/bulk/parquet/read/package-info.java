/// Reading of Parquet files, none of which is believed.
@NullMarked
package dev.kakehashi.bulk.parquet.read;

import org.jspecify.annotations.NullMarked;
