/// Values of typed files (Parquet, Arrow) as values of columns: exact, or refused.
@NullMarked
package dev.kakehashi.bulk.value;

import org.jspecify.annotations.NullMarked;
