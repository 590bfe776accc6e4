/// Benchmarks of the whole path. Each says its question; none is a test.
@NullMarked
package dev.kakehashi.benchmarks;

import org.jspecify.annotations.NullMarked;
