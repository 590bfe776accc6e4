/// Rows of many files as one source, and the rows that it rejects.
@NullMarked
package dev.kakehashi.bulk.load;

import org.jspecify.annotations.NullMarked;
