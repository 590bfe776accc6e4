/// Files that the log writes and forces, and faults of the disk. Knows nothing of what is in them.
@NullMarked
package dev.kakehashi.engine.store.log.file;

import org.jspecify.annotations.NullMarked;
