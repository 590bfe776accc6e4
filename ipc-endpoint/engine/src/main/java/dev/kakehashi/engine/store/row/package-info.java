/// Rows in memory: pages and their layout, versions and stamps, the form of a table, keys and rows of the durable image.
@NullMarked
package dev.kakehashi.engine.store.row;

import org.jspecify.annotations.NullMarked;
