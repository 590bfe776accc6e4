/// Interface of the store to the engine: transactions, views, tables and their definitions, cursors. Names no implementation.
@NullMarked
package dev.kakehashi.engine.store.api;

import org.jspecify.annotations.NullMarked;
