/// Arrow's IPC files and streams. Why without arrow-vector: docs/decisions/0038.
///
/// `ArrowSource` is a file's messages, immutable. A record batch is read by one task: its offsets and lengths are checked against its body
/// before they are used.
/// Columns are written by the classes of `formats`, which HTTP uses, too.
@NullMarked
package dev.kakehashi.bulk.arrow;

import org.jspecify.annotations.NullMarked;
