/// Changes of tables: INSERT, UPDATE, DELETE, MERGE, and locks of rows.
@NullMarked
package dev.kakehashi.engine.exec.dml;

import org.jspecify.annotations.NullMarked;
