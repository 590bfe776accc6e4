/// Loads and dumps by every door: functions and COPY of PostgreSQL, the Java client, the command line.
@NullMarked
package dev.kakehashi.pgtests.bulk;

import org.jspecify.annotations.NullMarked;
