/// Costs of the engine "pgwire", beside PgJDBC and postgres_fdw on the same server.
@NullMarked
package dev.kakehashi.benchmarks.pgwire;

import org.jspecify.annotations.NullMarked;
