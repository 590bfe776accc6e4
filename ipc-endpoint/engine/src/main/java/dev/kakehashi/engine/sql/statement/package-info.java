/// Statements that can be executed: statements with a plan, definitions, and statements without a query.
@NullMarked
package dev.kakehashi.engine.sql.statement;

import org.jspecify.annotations.NullMarked;
