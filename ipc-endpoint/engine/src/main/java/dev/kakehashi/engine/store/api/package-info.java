/// What the engine sees of the store: transactions, views, tables and their definitions, cursors. Names no implementation.
@NullMarked
package dev.kakehashi.engine.store.api;

import org.jspecify.annotations.NullMarked;
