/// CSV and PostgreSQL's text format: bytes to rows and back.
@NullMarked
package dev.kakehashi.bulk.csv;

import org.jspecify.annotations.NullMarked;
