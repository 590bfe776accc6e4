/// Algebra to better algebra: subqueries become joins, joins are ordered, unused columns are left out.
@NullMarked
package dev.kakehashi.engine.sql.optimizer;

import org.jspecify.annotations.NullMarked;
