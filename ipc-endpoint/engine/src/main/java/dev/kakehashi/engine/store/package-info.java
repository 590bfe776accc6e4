/// Rows, versions, indexes, transactions and durability. Knows types only as words and by-reference kinds; knows no SQL.
///
/// A [dev.kakehashi.engine.store.api.Store] is opened once per data directory. Readers use a [dev.kakehashi.engine.store.api.ReadView];
/// writers a [dev.kakehashi.engine.store.api.StoreTransaction]. The rooms, ground floor first; each sees those before it:
///
/// | package | what is there |
/// |---|---|
/// | `api` | what the engine sees |
/// | `memory`, `log`, `index` | memory of the pool, the durable log and base image, ordered trees |
/// | `row` | pages, layouts, stamps, the form of a table |
/// | `durable` | what commits leave on the disk |
/// | `version` | who may see what |
/// | `garbage` | frees what nobody can read any more |
/// | `table` | changes of rows, cursors |
/// | `transaction` | writes, the order of commits, serialisability, long and prepared transactions |
/// | `recovery`, `check` | the store from its image, and whether all of it fits together |
/// | this one | puts them together |
@NullMarked
package dev.kakehashi.engine.store;

import org.jspecify.annotations.NullMarked;
