/// Expressions that the catalogue keeps for tables, and what all statements share that change rows.
@NullMarked
package dev.kakehashi.engine.sql.table;

import org.jspecify.annotations.NullMarked;
