/// From a plan to a run: instances of plans, stages, tasks, and their order.
@NullMarked
package dev.kakehashi.engine.exec.run;

import org.jspecify.annotations.NullMarked;
