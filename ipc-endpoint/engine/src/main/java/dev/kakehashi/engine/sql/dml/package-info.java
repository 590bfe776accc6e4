/// INSERT, UPDATE, DELETE and MERGE, from parsed statements to physical plans.
@NullMarked
package dev.kakehashi.engine.sql.dml;

import org.jspecify.annotations.NullMarked;
