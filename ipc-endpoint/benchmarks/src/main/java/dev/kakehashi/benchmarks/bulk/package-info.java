/// Costs of loads and dumps of files, beside PostgreSQL's heap, DuckDB and a copy of the file.
@NullMarked
package dev.kakehashi.benchmarks.bulk;

import org.jspecify.annotations.NullMarked;
