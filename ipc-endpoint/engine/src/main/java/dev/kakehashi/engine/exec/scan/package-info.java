/// Scans of tables, of indexes, of samples, of functions and of system tables.
@NullMarked
package dev.kakehashi.engine.exec.scan;

import org.jspecify.annotations.NullMarked;
