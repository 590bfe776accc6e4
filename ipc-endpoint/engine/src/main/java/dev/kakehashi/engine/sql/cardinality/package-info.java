/// How many rows a relation has, from the statistics of its tables.
@NullMarked
package dev.kakehashi.engine.sql.cardinality;

import org.jspecify.annotations.NullMarked;
