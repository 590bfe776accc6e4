/// Tests of the whole system: real PostgreSQL, real endpoint process, psql and PgJDBC.
@NullMarked
package dev.kakehashi.pgtests;

import org.jspecify.annotations.NullMarked;
