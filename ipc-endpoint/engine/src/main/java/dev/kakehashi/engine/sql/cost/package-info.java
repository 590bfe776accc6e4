/// Costs of ways to run a query: access paths, look-ups, joins, correlated subqueries.
@NullMarked
package dev.kakehashi.engine.sql.cost;

import org.jspecify.annotations.NullMarked;
