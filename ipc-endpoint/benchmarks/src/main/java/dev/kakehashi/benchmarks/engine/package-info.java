/// The engine against PostgreSQL's heap: `make bench-engine`.
@NullMarked
package dev.kakehashi.benchmarks.engine;

import org.jspecify.annotations.NullMarked;
