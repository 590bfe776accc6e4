/// Rows of the system tables about the running engine: sessions, jobs, waits, queues and applications.
@NullMarked
package dev.kakehashi.engine.embedded.activity;

import org.jspecify.annotations.NullMarked;
