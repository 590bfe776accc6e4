/// The HTTP door against a service of the usual kind over PostgreSQL's heap.
@NullMarked
package dev.kakehashi.benchmarks.rest;

import org.jspecify.annotations.NullMarked;
