/// Transactions: their writes and definitions, the order of commits, serialisability, long and prepared ones.
@NullMarked
package dev.kakehashi.engine.store.transaction;

import org.jspecify.annotations.NullMarked;
