/// Rows that operators keep, in memory and in files, and the account of both.
@NullMarked
package dev.kakehashi.engine.exec.rows;

import org.jspecify.annotations.NullMarked;
