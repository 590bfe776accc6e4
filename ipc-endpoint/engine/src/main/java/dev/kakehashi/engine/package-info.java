/// The engine behind the engine API: see [dev.kakehashi.engine.embedded.EmbeddedEngine]. Its packages, ground floor first; each sees those
/// before it: `vector`, `store`, `type`, `expr`, `catalog`, `statistics`, `plan`, `exec`, `sql`, `txn`, `ddl`, `embedded`.
@NullMarked
package dev.kakehashi.engine;

import org.jspecify.annotations.NullMarked;
