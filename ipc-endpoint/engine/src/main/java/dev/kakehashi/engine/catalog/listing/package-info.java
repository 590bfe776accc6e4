/// Descriptions of the objects of the catalogue: rows of system tables, and statements that make the objects again.
@NullMarked
package dev.kakehashi.engine.catalog.listing;

import org.jspecify.annotations.NullMarked;
