/// Visibility of versions: slots of running transactions, snapshots, what was read, and the reader that finds the version of a view.
@NullMarked
package dev.kakehashi.engine.store.version;

import org.jspecify.annotations.NullMarked;
