/// Tables, queues and statements as users' code has them, over the engine's direct access.
@NullMarked
package dev.kakehashi.applications.table;

import org.jspecify.annotations.NullMarked;
