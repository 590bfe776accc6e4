/// Arrow's IPC files and streams.
@NullMarked
package dev.kakehashi.bulk.arrow;

import org.jspecify.annotations.NullMarked;
