/// Names, types and functions by PostgreSQL's rules: from Calcite's syntax to algebra.
@NullMarked
package dev.kakehashi.engine.sql.binder;

import org.jspecify.annotations.NullMarked;
