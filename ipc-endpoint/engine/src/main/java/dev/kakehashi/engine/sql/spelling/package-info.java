/// From PostgreSQL's spelling to one that Calcite's parser takes with the same meaning, and that parser.
@NullMarked
package dev.kakehashi.engine.sql.spelling;

import org.jspecify.annotations.NullMarked;
