/// Frees what nobody can read any more: what transactions leave, the collector, chains of versions.
@NullMarked
package dev.kakehashi.engine.store.garbage;

import org.jspecify.annotations.NullMarked;
