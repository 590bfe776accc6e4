/// Transactions of the engine: order of statements, savepoints, conflicts and deadlocks, commit and rollback on top of the store's
/// transactions.
@NullMarked
package dev.kakehashi.engine.txn;

import org.jspecify.annotations.NullMarked;
