/// Tasks and changes as the log has them. Immutable, but for the position that a new task gets with its place.
///
/// All rooms above may make and read them. Bytes are read and written here alone. `GroupTasks` is for the order, which changes of tasks are
/// applied to.
@NullMarked
package dev.kakehashi.queue.record;

import org.jspecify.annotations.NullMarked;
