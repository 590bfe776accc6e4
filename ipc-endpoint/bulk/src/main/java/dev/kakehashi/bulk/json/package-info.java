/// JSON of dumps: an object a row, as PostgreSQL's `COPY … TO … (FORMAT json)`.
@NullMarked
package dev.kakehashi.bulk.json;

import org.jspecify.annotations.NullMarked;
