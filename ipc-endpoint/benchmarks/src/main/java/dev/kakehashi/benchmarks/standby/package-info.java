/// Costs of a second copy: commits that wait for a standby, an archive, the standby's lag, a takeover.
@NullMarked
package dev.kakehashi.benchmarks.standby;

import org.jspecify.annotations.NullMarked;
