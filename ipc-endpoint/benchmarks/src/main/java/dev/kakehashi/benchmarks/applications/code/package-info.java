/// Code that is deployed for the benchmark. It uses the application's API alone.
@NullMarked
package dev.kakehashi.benchmarks.applications.code;

import org.jspecify.annotations.NullMarked;
