/// Durable part of the store: group commit, definitions, the data directory, backups.
@NullMarked
package dev.kakehashi.engine.store.durable;

import org.jspecify.annotations.NullMarked;
