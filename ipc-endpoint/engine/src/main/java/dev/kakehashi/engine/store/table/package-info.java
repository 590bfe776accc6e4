/// Tables: changes of rows, index entries, cursors, locks of keys.
@NullMarked
package dev.kakehashi.engine.store.table;

import org.jspecify.annotations.NullMarked;
