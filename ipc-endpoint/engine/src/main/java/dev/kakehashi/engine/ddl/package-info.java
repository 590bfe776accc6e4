/// Statements that change the catalogue: what each one does, and the tasks that do it within its transaction.
@NullMarked
package dev.kakehashi.engine.ddl;

import org.jspecify.annotations.NullMarked;
