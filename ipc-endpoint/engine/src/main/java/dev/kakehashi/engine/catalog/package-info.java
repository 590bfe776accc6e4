/// Schemas, tables, columns and indexes by name; kept as entries of the store's catalogue.
@NullMarked
package dev.kakehashi.engine.catalog;

import org.jspecify.annotations.NullMarked;
