/// Execution of physical plans as tasks: operators that hand batches up, stages that run in parallel, the writer of results.
@NullMarked
package dev.kakehashi.engine.exec;

import org.jspecify.annotations.NullMarked;
