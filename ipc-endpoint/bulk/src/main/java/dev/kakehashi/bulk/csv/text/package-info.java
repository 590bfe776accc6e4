/// Values of columns from bytes of text, as PostgreSQL's input functions read them, into row batches.
@NullMarked
package dev.kakehashi.bulk.csv.text;

import org.jspecify.annotations.NullMarked;
