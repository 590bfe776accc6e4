/// Rows, versions, indexes, transactions and durability. Knows types only as words and by-reference kinds; knows no SQL.
///
/// [Store] is opened once per data directory. Readers use a [ReadView]; writers a [StoreTransaction].
@NullMarked
package dev.kakehashi.engine.store;

import org.jspecify.annotations.NullMarked;
