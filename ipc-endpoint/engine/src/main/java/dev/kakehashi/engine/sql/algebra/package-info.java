/// Relational algebra under Calcite: PostgreSQL's types and operators, relations that Calcite does not have, and questions about algebra.
@NullMarked
package dev.kakehashi.engine.sql.algebra;

import org.jspecify.annotations.NullMarked;
